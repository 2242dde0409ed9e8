"""Ask the schemas of a corpus and what adapters make of them about the same values; they must agree.

    python bench/schemas.py [CORPUS] [--only TEXT] [--sample N] [--show N]

Values are made from the written schemas, taken from the document's own examples, and changed a little (a field left
out, another type). `refused` counts values that the document admits and the adapter does not: there must be none but
those `told apart`, which a discriminator alone refuses: JSON Schema does not know it. `taken` counts values that the
adapter takes and the document does not, beyond the leniencies that the tests' oracle allows for: those of `allOf`
(closed branches, contradictions) remain, so look at them with `--show`. Components that no validator can compile are
counted as `invalid`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "templates/project/src/{{package}}")]

import jsonschema_rs  # noqa: E402
from runtime.names import Names  # noqa: E402
from runtime.table import Table  # noqa: E402

from aqlgen.diagnostics.errors import AqlgenError  # noqa: E402
from aqlgen.document.assemble import assemble  # noqa: E402
from aqlgen.document.request import Request  # noqa: E402
from aqlgen.document.resolve import Resolver  # noqa: E402
from aqlgen.schemas import Place, Types  # noqa: E402
from aqlgen.table.values import ValueMaker  # noqa: E402
from tests.schemas.oracle import meaning  # noqa: E402


def documents(corpus: Path, only: str) -> Iterator[tuple[str, Path]]:
    """Give the documents that the index names."""
    with (corpus / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if only in row["name"]:
                yield row["name"], corpus / row["name"]


def changed(value: Any, chance: random.Random) -> Iterator[Any]:
    """Give values that differ a little."""
    if isinstance(value, dict) and value:
        key = chance.choice(list(value))
        yield {name: one for name, one in value.items() if name != key}
        for other in (None, 1, "text", [], {}, next(changed(value[key], chance), True)):
            yield {**value, key: other}
        yield {**value, "undeclaredKey": 1}
    elif isinstance(value, list):
        yield []
        yield [*value, *value]
        yield from ([other, *value[1:]] for other in changed(value[0], chance)) if value else ()
    else:
        yield from (other for other in (None, True, -1, 0.5, "", "text") if other != value)


def undiscriminated(schema: Any) -> Any:
    """Give a written schema without the values that discriminators add to branches."""
    if isinstance(schema, list):
        return [undiscriminated(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    narrowed = "$ref" in schema and "properties" in schema
    return {key: undiscriminated(one) for key, one in schema.items() if not (narrowed and key == "properties")}


class Look:
    """One document: its components under the oracle, and under the adapter."""

    def __init__(self, document: Path) -> None:
        assembled = assemble(Request(str(document)))
        root = dict(assembled.root)
        self.openapi = assembled.openapi
        self.components: dict[str, Any] = (root.get("components") or {}).get("schemas") or {}
        self.types = Types(Resolver(root), preserve=False, unresolved=lambda _: None, openapi=assembled.openapi)
        place = Place(request=False, hint="Looked")
        references = {
            name: f"#/components/schemas/{name.replace('~', '~0').replace('/', '~1')}" for name in self.components
        }
        self.written = {name: self.types.schema({"$ref": reference}, place) for name, reference in references.items()}
        self.finished = self.types.finish()
        table = Table(Path())
        table.__dict__["types"] = self.finished
        self.names = Names(table)
        self.maker = ValueMaker(self.finished)
        root["components"] = {**root["components"], "schemas": {}} if self.components else {}
        self.plain = {
            lenient: {name: meaning(one, self.openapi, lenient=lenient) for name, one in self.components.items()}
            for lenient in (False, True)
        }

    def oracle(self, name: str, *, lenient: bool) -> Any:
        """Compile a component as the document means it."""
        document = {"allOf": [self.plain[lenient][name]], "components": {"schemas": self.plain[lenient]}}
        return jsonschema_rs.Draft202012Validator(document, validate_formats=True)

    def ours(self, name: str, *, discriminated: bool = True) -> Any:
        """Compile a component as the adapter has it; it must compile without any repair."""
        document = {**self.written[name], "types": self.finished}
        return jsonschema_rs.Draft202012Validator(
            document if discriminated else undiscriminated(document), validate_formats=True
        )

    def values(self, name: str, chance: random.Random) -> Iterator[Any]:
        """Give values to ask about, under the API's names."""
        raw = self.components[name]
        listed = [raw["example"]] if isinstance(raw, dict) and "example" in raw else []
        made = [self.names.to_wire(one, self.written[name]) for one in self.maker.candidates(self.written[name], 3)]
        for value in [*listed, *made[:4]]:
            yield value
            yield from changed(value, chance)


def main() -> int:
    """Print a line for each document; 1 when an adapter refuses what a document admits."""
    parser = argparse.ArgumentParser(description="Compare schemas.")
    parser.add_argument("corpus", nargs="?", default=os.environ.get("AQLGEN_CORPUS"))
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--sample", type=int, default=60, metavar="N", help="at most N components of each document")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="show N disagreements of each document")
    options = parser.parse_args()
    if not options.corpus:
        parser.error("name the corpus, or set AQLGEN_CORPUS")
    sums: Counter[str] = Counter()
    for name, document in documents(Path(options.corpus), options.only):
        try:
            look = Look(document)
        except AqlgenError as error:
            print(f"{name}: {error}")
            continue
        found = compare(look, options.sample, options.show)
        sums += found
        print(f"{name:55} {dict(found)}", flush=True)
    print(dict(sums))
    return 1 if sums["refused"] or sums["uncompiled"] else 0


def compare(look: Look, sample: int, show: int) -> Counter[str]:
    """Ask about a sample of the components."""
    chance = random.Random(0)
    names = sorted(look.components)
    chosen = names if len(names) <= sample else sorted(chance.sample(names, sample))
    found: Counter[str] = Counter()
    shown: Counter[str] = Counter()

    def tell(kind: str, name: str, value: Any, more: Mapping[str, Any] | None = None) -> None:
        found[kind] += 1
        shown[kind] += 1
        if shown[kind] <= show:
            print(f"   {kind} {name}: {json.dumps(value)[:300]} {more or ''}")

    for name in chosen:
        found["components"] += 1
        try:
            ours = look.ours(name)
        except (ValueError, jsonschema_rs.ValidationError) as error:
            tell("uncompiled", name, str(error)[:200])
            continue
        try:
            strict, lenient = look.oracle(name, lenient=False), look.oracle(name, lenient=True)
        except (ValueError, jsonschema_rs.ValidationError):
            found["invalid"] += 1
            continue
        for value in look.values(name, chance):
            found["values"] += 1
            try:
                agents = look.names.to_agent(value, look.written[name])
                taken = ours.is_valid(agents)
                admitted = strict.is_valid(value)
            except (ValueError, TypeError):
                continue
            found["admitted"] += admitted
            if admitted and not taken and look.ours(name, discriminated=False).is_valid(agents):
                found["told apart"] += 1
            elif admitted and not taken:
                why = next((one.message for one in ours.iter_errors(agents)), "")
                tell("refused", name, value, {"why": why[:200]})
            elif taken and not lenient.is_valid(value):
                why = next((f"{one.instance_path} {one.message[-150:]}" for one in lenient.iter_errors(value)), "")
                tell("taken", name, value, {"why": why})
    return found


if __name__ == "__main__":
    sys.exit(main())
