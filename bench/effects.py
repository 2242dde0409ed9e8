"""Measure how far a person is asked about what matters, and how often about what does not.

LABELS is a table of tabs with a line of headings: `doc`, `method`, `path`, `effects` (divided by commas), `ask` (must,
either or fine), `grave` (yes or no), and a `quote`, written before anybody saw what aqlgen decides. DOCUMENTS is the
folder of its documents. `must` are the labelled operations that a person must be asked about, `grave` those of them
that need a question for each call; of `fine` every question is one too many. Money is scored over all labels. An unsafe
read is an operation that is labelled with an effect, and that a call makes unasked as a READ. Without LABELS, the share
of the writes of each of the documents that is asked about: what an API's own mix costs.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aqlgen.build import build
from aqlgen.decide.decision import Asked, Category, Decision
from aqlgen.decide.overrides import Overrides
from aqlgen.decide.stage import decide
from aqlgen.document.assemble import assemble
from aqlgen.document.request import Request
from aqlgen.document.resolve import Resolver
from bench.support.arguments import parser


@dataclass(frozen=True, slots=True)
class Label:
    """A labelled operation and what is decided about it."""

    row: dict[str, str]
    decision: Decision

    @property
    def effects(self) -> frozenset[str]:
        """The effects that the label names."""
        return frozenset(self.row["effects"].split(","))

    @property
    def is_unsafe_read(self) -> bool:
        """True if what has an effect runs unasked as a READ."""
        is_read = self.decision.category is Category.READ and self.decision.asked is Asked.NEVER
        return is_read and not self.effects <= {"none"} and self.row["ask"] != "fine"


def main(argv: Sequence[str]) -> int:
    """Print the shares; 0 unless a labelled operation is not decision."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("documents", type=Path, nargs="+", help="the folder of documents, or documents")
    arguments.add_argument("--labels", type=Path, help="the table of labels")
    arguments.add_argument("--missed", action="store_true", help="print each operation missed or needlessly asked")
    options = arguments.parse_args(argv)
    if options.labels is None:
        for path in options.documents:
            print(_mix(path))
        return 0
    labels, lost = _labels(options.labels, options.documents[0])
    for line in _scores(labels):
        print(line)
    for text in lost:
        print(f"not found: {text}")
    for label in labels if options.missed else ():
        if problem := _problem(label):
            decision = label.decision
            effects, says = ",".join(decision.effects), "; ".join(each.says for each in decision.evidence)
            label_says = f"{label.row['ask']} {label.row['effects']}: {label.row['quote'][:70]}"
            print(
                f"{problem:14} {label.row['doc']} {decision.operation.key} [{label_says}]"
                f" -> {decision.name} {decision.category} {effects} {decision.danger_reason.rule}: {says[:150]}"
            )
    return 1 if lost else 0


def _labels(table: Path, folder: Path) -> tuple[list[Label], list[str]]:
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    labels: list[Label] = []
    lost: list[str] = []
    for name in dict.fromkeys(row["doc"] for row in rows):
        decisions = {decision.operation.key: decision for decision in _decisions(folder / name)}
        for row in (row for row in rows if row["doc"] == name):
            key = f"{row['method']} {row['path']}"
            if key in decisions:
                labels.append(Label(row, decisions[key]))
            else:
                lost.append(f"{name} {key}")
    return labels, lost


def _decisions(path: Path) -> Sequence[Decision]:
    assembled = assemble(Request(str(path)))
    resolver = Resolver(assembled.root)
    return decide(build(resolver, assembled.openapi).document, Overrides(), resolver)


def _scores(labels: Sequence[Label]) -> Iterator[str]:
    must = [label for label in labels if label.row["ask"] == "must"]
    grave = [label for label in must if label.row["grave"] == "yes"]
    fine = [label for label in labels if label.row["ask"] == "fine"]
    money = [label for label in labels if "money" in label.effects]
    others = [label for label in labels if "money" not in label.effects]
    yield f"{len(labels)} labels"
    yield _share("must be asked about: asked", must, (Asked.ALWAYS, Asked.FIRST), ">= 95")
    yield _share("must be asked about: each time", must, (Asked.ALWAYS,), "")
    yield _share("grave: asked each time", grave, (Asked.ALWAYS,), ">= 80")
    yield _share("fine: asked each time", fine, (Asked.ALWAYS,), "<= 6")
    yield _share("fine: asked at first use", fine, (Asked.FIRST,), "<= 35")
    yield _percent("money recognised", sum(label.decision.moves_money for label in money), len(money), ">= 88")
    yield _percent("money that is none", sum(label.decision.moves_money for label in others), len(others), "<= 1")
    yield f"{'unsafe reads':34} {sum(label.is_unsafe_read for label in labels):5}         = 0"


def _share(text: str, labels: Sequence[Label], answers: Iterable[Asked], aim: str) -> str:
    return _percent(text, sum(label.decision.asked in answers for label in labels), len(labels), aim)


def _percent(text: str, part: int, whole: int, aim: str) -> str:
    return f"{text:34} {100 * part / max(whole, 1):5.1f} %  {part:4} of {whole:4}  {aim}".rstrip()


def _problem(label: Label) -> str:
    ask, asked = label.row["ask"], label.decision.asked
    if label.is_unsafe_read:
        return "unsafe read"
    if ask == "must" and asked is Asked.NEVER:
        return "missed"
    if label.row["grave"] == "yes" and asked is Asked.FIRST:
        return "grave, first"
    if ask == "fine" and asked is not Asked.NEVER:
        return f"fine, {asked}"
    if label.decision.moves_money != ("money" in label.effects):
        return "no money" if label.decision.moves_money else "money missed"
    return ""


def _mix(path: Path) -> str:
    decisions = _decisions(path)
    writes = [each for each in decisions if each.category is not Category.READ or each.operation.method != "get"]
    asked = Counter(each.asked for each in writes)
    shares = "  ".join(f"{answer} {100 * asked[answer] / max(len(writes), 1):3.0f} %" for answer in Asked)
    return f"{path.stem:32} {len(writes):5} writes  {shares}"
