"""Score classification and names against what people called the operations in SDKs (`ground-truth.tsv` of the corpus).

    python bench/ground_truth.py [CORPUS] [--wrong N]

CORPUS is the folder that holds the file; default: the variable AQLGEN_CORPUS. Only rows of high confidence count. Verbs
and resources are scored on rows whose names people chose (no operationId of their own), verbs after mapping synonyms.
Upserts are CREATE by the specification (R-NAME-1) and UPDATE in the file, so both figures are printed.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from aqlgen.decide import Overrides, decide
from aqlgen.decisions import Category, Decision
from aqlgen.ir import Document, Operation, Origin
from aqlgen.words import singular, split

Row = Mapping[str, str]


CANONICAL = {
    **dict.fromkeys(("retrieve", "fetch"), "get"),
    **dict.fromkeys(("modify", "edit", "patch"), "update"),
    "remove": "delete",
    **dict.fromkeys(("add", "insert", "new"), "create"),
}


def read(path: Path) -> dict[str, list[Row]]:
    """Give the rows of high confidence by document."""
    found: dict[str, list[Row]] = defaultdict(list)
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["confidence"] == "high":
                found[row["document"]].append(row)
    return found


def operation(row: Row) -> Operation:
    """Make the operation that the row's columns describe."""
    rule, _, action = row["rule"].partition(":")
    extensions = {"x-kubernetes-action": action} if rule == "x-kubernetes-action" else {}
    return Operation(
        method=row["method"].lower(),
        path=row["path"],
        operation_id=row["operation_id"] or None,
        summary="",
        description="",
        tags=(),
        parameters=(),
        body=None,
        responses=(),
        security=None,
        servers=(),
        deprecated=False,
        extensions=extensions,
        origin=Origin(""),
    )


def document(rows: Iterable[Row]) -> Document:
    """Make a document of the rows' operations, each method and path once."""
    operations = {one.key: one for one in map(operation, rows)}
    return Document("3.1.0", "", "", "", (), (), (), (), tuple(operations.values()))


def main() -> int:
    """Print the scores; 0 unless the file is missing."""
    parser = argparse.ArgumentParser(description="Score the decide stage.")
    parser.add_argument("corpus", nargs="?", default=os.environ.get("AQLGEN_CORPUS"))
    parser.add_argument("--wrong", type=int, default=0, metavar="N", help="print N wrong rows of each kind")
    options = parser.parse_args()
    path = Path(options.corpus or ".") / "ground-truth.tsv"
    if not path.is_file():
        print(f"there is no {path}; give the corpus folder or set AQLGEN_CORPUS", file=sys.stderr)
        return 3
    total: Counter[str] = Counter()
    right: Counter[str] = Counter()
    named: Counter[str] = Counter()
    review: Counter[str] = Counter()
    wrong: dict[str, list[str]] = defaultdict(list)
    for name, rows in read(path).items():
        provider = name.split(":")[0]
        decided = {one.operation.key: one for one in decide(document(rows), Overrides())}
        for row in rows:
            one = decided[f"{row['method'].upper()} {row['path']}"]
            upsert = row["rule"] == "verb:upsert" and one.category is Category.CREATE
            good = one.category.value == row["category"]
            total[provider] += 1
            right[provider] += good
            total["by specification"] += 1
            right["by specification"] += good or upsert
            review["all"] += bool(one.review_reasons)
            review["category"] += one.category_reason.confidence < 0.7
            if not (good or upsert):
                review["wrong"] += 1
                review["wrong in list"] += bool(one.review_reasons)
                wrong[f"category {row['category']} not {one.category} ({one.category_reason.rule})"].append(
                    _line(row, one)
                )
            if not row["operation_id"]:
                _score_name(row, one, named, wrong)
    _report(total, right, named, review)
    for kind, lines in sorted(wrong.items(), key=lambda pair: -len(pair[1])) if options.wrong else ():
        print(f"\n{len(lines)} {kind}", *lines[: options.wrong], sep="\n    ")
    return 0


def _score_name(row: Row, one: Decision, named: Counter[str], wrong: dict[str, list[str]]) -> None:
    human = split(row["human_method"])
    if human:
        verb = CANONICAL.get(human[0], human[0])
        good = CANONICAL.get(one.verb, one.verb) == verb
        named["verbs"] += 1
        named["verbs right"] += good
        if not good:
            wrong[f"verb {verb}"].append(_line(row, one))
    thing = split(row["human_resource"].split(".")[-1])
    if thing:
        good = singular(thing[-1]) in {singular(word) for word in split(one.resource)}
        named["resources"] += 1
        named["resources right"] += good
        if not good:
            wrong["resource"].append(_line(row, one))


def _line(row: Row, one: Decision) -> str:
    human = f"{row['human_resource']}.{row['human_method']}"
    return f"{row['document']}: {row['method']} {row['path']} [{row['operation_id']}] {human} → {one.name}"


def _report(total: Counter[str], right: Counter[str], named: Counter[str], review: Counter[str]) -> None:
    providers = [name for name, _ in total.most_common() if name != "by specification"]
    rows = sum(total[name] for name in providers)
    print(f"category as the file has it   {sum(right[name] for name in providers) / rows:7.2%} of {rows}")
    print(f"category by R-NAME-1          {right['by specification'] / rows:7.2%} (upserts are CREATE)")
    for name in providers:
        print(f"    {name:24} {right[name] / total[name]:7.1%} of {total[name]}")
    shares = (
        ("verb", named["verbs right"], named["verbs"]),
        ("resource word", named["resources right"], named["resources"]),
        ("review list", review["all"], rows),
        ("review list, categories", review["category"], rows),
        ("wrong categories in it", review["wrong in list"], review["wrong"]),
    )
    for what, part, whole in shares:
        print(f"{what:29} {part / max(whole, 1):7.2%} of {whole}")


if __name__ == "__main__":
    raise SystemExit(main())
