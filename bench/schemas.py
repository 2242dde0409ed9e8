"""Validate the same values by the schemas of a corpus and by what adapters make of them: they must agree.

Values are generated from the adapter's schemas, taken from the document's own examples, and changed a little (a field
left out, another type). `refused` counts values that the document admits and the adapter does not: there must be none
but those `told apart`, which only a discriminator refuses: JSON Schema does not know it. `taken` counts values that the
adapter takes and the document does not, beyond the leniencies that the tests' oracle allows: those of `allOf` (closed
branches, contradictions) remain, so look at them with `--show`. Components that no validator can compile are counted as
`invalid`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema_rs

from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.assemble import assemble
from aqlgen.document.request import Request
from aqlgen.document.resolve import Resolver
from aqlgen.schemas import Place, Types
from aqlgen.table.sample_values import ValueMaker
from bench.support.arguments import add_corpus, add_only, parser
from bench.support.documents import entries
from bench.support.runtime import load
from tests.schemas.oracle import meaning


def changed(value: Any, chance: random.Random) -> Iterator[Any]:
    """Yield values that differ a little."""
    if isinstance(value, dict) and value:
        key = chance.choice(list(value))
        yield {name: member for name, member in value.items() if name != key}
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
    """Return a written schema without the values that discriminators add to branches."""
    if isinstance(schema, list):
        return [undiscriminated(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    narrowed = "$ref" in schema and "properties" in schema
    return {key: undiscriminated(value) for key, value in schema.items() if not (narrowed and key == "properties")}


class Components:
    """The components of a document, as the document means them and as the adapter has them."""

    def __init__(self, document: Path) -> None:
        assembled = assemble(Request(str(document)))
        root = dict(assembled.root)
        self.openapi = assembled.openapi
        self.components: dict[str, Any] = (root.get("components") or {}).get("schemas") or {}
        self.types = Types(Resolver(root), preserve=False, unresolved=lambda _: None, openapi=assembled.openapi)
        place = Place(request=False, hint="Component")
        references = {
            name: f"#/components/schemas/{name.replace('~', '~0').replace('/', '~1')}" for name in self.components
        }
        self.written = {name: self.types.schema({"$ref": reference}, place) for name, reference in references.items()}
        self.finished = self.types.finish()
        table = load("table").Table(Path())
        table.__dict__["types"] = self.finished
        self.names = load("names").Names(table)
        self.maker = ValueMaker(self.finished)
        root["components"] = {**root["components"], "schemas": {}} if self.components else {}
        self.plain = {
            lenient: {name: meaning(schema, self.openapi, lenient=lenient) for name, schema in self.components.items()}
            for lenient in (False, True)
        }

    def oracle(self, name: str, *, lenient: bool) -> Any:
        """Return the validator of a component as the document means it."""
        document = {"allOf": [self.plain[lenient][name]], "components": {"schemas": self.plain[lenient]}}
        return jsonschema_rs.Draft202012Validator(document, validate_formats=True)

    def ours(self, name: str, *, discriminated: bool = True) -> Any:
        """Return the validator of a component as the adapter has it; it must compile without any repair."""
        document = {**self.written[name], "types": self.finished}
        return jsonschema_rs.Draft202012Validator(
            document if discriminated else undiscriminated(document), validate_formats=True
        )

    def values(self, name: str, chance: random.Random) -> Iterator[Any]:
        """Yield values to validate, under the API's names."""
        raw = self.components[name]
        listed = [raw["example"]] if isinstance(raw, dict) and "example" in raw else []
        generated = [
            self.names.to_wire(value, self.written[name]) for value in self.maker.candidates(self.written[name], 3)
        ]
        for value in [*listed, *generated[:4]]:
            yield value
            yield from changed(value, chance)


def main(argv: Sequence[str]) -> int:
    """Print a line for each document; return 1 if an adapter refuses what a document admits."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    add_only(arguments)
    arguments.add_argument("--sample", type=int, default=60, metavar="N", help="at most N components of each document")
    arguments.add_argument("--show", type=int, default=0, metavar="N", help="show N disagreements of each document")
    options = arguments.parse_args(argv)
    sums: Counter[str] = Counter()
    for entry in entries(options.corpus, options.only):
        try:
            components = Components(entry.path)
        except AqlgenError as error:
            print(f"{entry.name}: {error}")
            continue
        counts = compare(components, options.sample, options.show)
        sums += counts
        print(f"{entry.name:55} {dict(counts)}", flush=True)
    print(dict(sums))
    return 1 if sums["refused"] or sums["uncompiled"] else 0


def compare(components: Components, sample: int, show: int) -> Counter[str]:
    """Compare a sample of the components; return the counts."""
    chance = random.Random(0)
    names = sorted(components.components)
    chosen = names if len(names) <= sample else sorted(chance.sample(names, sample))
    counts: Counter[str] = Counter()
    shown: Counter[str] = Counter()

    def tell(kind: str, name: str, value: Any, more: Mapping[str, Any] | None = None) -> None:
        counts[kind] += 1
        shown[kind] += 1
        if shown[kind] <= show:
            print(f"   {kind} {name}: {json.dumps(value)[:300]} {more or ''}")

    for name in chosen:
        counts["components"] += 1
        try:
            ours = components.ours(name)
        except (ValueError, jsonschema_rs.ValidationError) as error:
            tell("uncompiled", name, str(error)[:200])
            continue
        try:
            strict, lenient = components.oracle(name, lenient=False), components.oracle(name, lenient=True)
        except (ValueError, jsonschema_rs.ValidationError):
            counts["invalid"] += 1
            continue
        for value in components.values(name, chance):
            counts["values"] += 1
            try:
                agents = components.names.to_agent(value, components.written[name])
                taken = ours.is_valid(agents)
                admitted = strict.is_valid(value)
            except (ValueError, TypeError):
                continue
            counts["admitted"] += admitted
            if admitted and not taken and components.ours(name, discriminated=False).is_valid(agents):
                counts["told apart"] += 1
            elif admitted and not taken:
                why = next((error.message for error in ours.iter_errors(agents)), "")
                tell("refused", name, value, {"why": why[:200]})
            elif taken and not lenient.is_valid(value):
                why = next((f"{e.instance_path} {e.message[-150:]}" for e in lenient.iter_errors(value)), "")
                tell("taken", name, value, {"why": why})
    return counts
