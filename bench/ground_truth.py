"""Score classification and names against what people called the operations in SDKs (`ground-truth.tsv` of the corpus).

Only rows of high confidence count. An operation whose document is in the corpus is decided as that document describes
it; --rows scores the bare rows only, which have a method and a path and perhaps an operationId, no summary, body or
answer. Verbs are compared after mapping synonyms and without adverbs (`bulkUpdate`, `updateMany`), resources by the
last word of the human one. Both are scored on all rows, and on the rows of providers whose names people chose:
elsewhere the name is the operationId that we read too, or x-kubernetes-action. The file is scored as it is, and then
with all that R-NAME-1 settles against the file: star and follow create, merge and what moves money execute, compute
and calculate read, find and delete deletes, and what upserts updates, also where the file goes by the first word of
"add or update". `default names` are rows that an SDK generator named by the method alone (POST /auth/login is
`auth.login.create`): their categories contradict R-NAME-1. --half keeps every second provider, so that rules tuned on
one half are measured on the other. --rules prints what each category rule decided, how often wrongly, and with what
confidence; and how often each naming rule chose the verb and the nouns of the rows that people named, and how often it
was right. --without takes rules away (`naming.number:response`; `list` shows them), and --without each takes each away
in turn and prints what changes: a rule stays only if a figure is worse without it.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from aqlgen.decide.decision import REVIEW_THRESHOLD, Category, Decision
from aqlgen.decide.naming.verbs import ADVERBS, find_verb, leading_verb
from aqlgen.decide.overrides import Overrides
from aqlgen.decide.stage import decide
from aqlgen.words import singular, split
from bench.support.arguments import add_corpus, parser
from bench.support.rules import leave_out, rules
from bench.truth import Row, Truth, truths

CANONICAL = {
    **dict.fromkeys(("retrieve", "fetch"), "get"),
    **dict.fromkeys(("modify", "edit", "patch"), "update"),
    "remove": "delete",
    **dict.fromkeys(("add", "insert", "new"), "create"),
}

SPECIFIED = {
    "upsert": Category.UPDATE,
    **dict.fromkeys(("star", "follow"), Category.CREATE),
    **dict.fromkeys(("compute", "calculate"), Category.READ),
    "merge": Category.EXECUTE,
    "find_one_and_delete": Category.DELETE,
    **dict.fromkeys(("find_one_and_replace", "find_one_and_update"), Category.UPDATE),
}
"""Verbs whose category the specification settles, where the file has another."""


@dataclass
class Scores:
    """What was counted, by provider and by rule."""

    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    rules: dict[str, list[tuple[bool, float]]] = field(default_factory=lambda: defaultdict(list))
    verb_rules: dict[str, Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    noun_rules: dict[str, Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    verbs: Counter[tuple[str, str]] = field(default_factory=Counter)
    mistakes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, provider: str, what: str, *, when: bool = True) -> None:
        """Count something for a provider."""
        self.counts[provider][what] += when

    def total(self, what: str) -> int:
        """Sum over all providers."""
        return sum(counter[what] for counter in self.counts.values())


def main(argv: Sequence[str]) -> int:
    """Print the scores; 0 unless the file is missing."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    arguments.add_argument("--wrong", type=int, default=0, metavar="N", help="print N wrong rows of each kind")
    arguments.add_argument("--rules", action="store_true", help="print the error rate of every rule")
    arguments.add_argument("--rows", action="store_true", help="score the bare rows, without the corpus's documents")
    arguments.add_argument("--without", action="append", default=[], metavar="RULE", help="take a rule away")
    arguments.add_argument("--half", type=int, choices=(0, 1), help="score every second provider only")
    options = arguments.parse_args(argv)
    corpus = options.corpus
    if not (corpus / "ground-truth.tsv").is_file():
        print(f"there is no ground-truth.tsv in {corpus}; give the corpus folder or set AQLGEN_CORPUS", file=sys.stderr)
        return 3
    if options.without == ["list"]:
        print(*rules(), sep="\n")
        return 0
    providers: dict[str, int] = {}
    scored = [
        truth
        for truth in truths(corpus, rows_only=options.rows)
        if options.half in (None, providers.setdefault(truth.provider, len(providers)) % 2)
    ]
    if options.without == ["each"]:
        report_each(scored)
        return 0
    try:
        for rule in options.without:
            leave_out(rule)
    except LookupError as error:
        print(*error.args, file=sys.stderr)
        return 3
    scores = scores_of(scored)
    report(scores)
    if options.rules:
        report_rules(scores)
    if options.wrong:
        print(
            "\nverbs, people's → ours:", *(f"{n} {a} → {b}" for (a, b), n in scores.verbs.most_common(40)), sep="\n    "
        )
        for kind, lines in sorted(scores.mistakes.items(), key=lambda pair: -len(pair[1])):
            print(f"\n{len(lines)} {kind}", *lines[: options.wrong], sep="\n    ")
    return 0


def scores_of(documents: Iterable[Truth]) -> Scores:
    """Score some documents."""
    scores = Scores()
    for truth in documents:
        score(truth, scores)
    return scores


def score(truth: Truth, scores: Scores) -> None:
    """Decide about a document and compare with its rows."""
    decided = {decision.operation.key: decision for decision in decide(truth.document, Overrides(), truth.resolver)}
    scores.counts[truth.provider]["real"] += truth.real
    for row in truth.rows:
        decision = decided[f"{row['method'].upper()} {row['path']}"]
        as_filed = decision.category.value == row["category"]
        verb = row["rule"].removeprefix("verb:")
        heads = (head[0].word for head in [leading_verb(split(row["human_method"]))] if head)
        specified = decision.category in map(SPECIFIED.get, (verb, row["human_method"], *heads))
        specified |= decision.moves_money and (row["category"], decision.category) == ("CREATE", Category.EXECUTE)
        default = not (as_filed or specified) and is_default_name(row)
        listed = decision.category_reason.confidence < REVIEW_THRESHOLD
        good = as_filed or specified
        for what, when in (
            ("rows", True),
            ("as filed", as_filed),
            ("by R-NAME-1", good),
            ("default names", default),
            ("review", bool(decision.review_reasons)),
            ("review categories", listed),
            ("wrong", not good),
            ("wrong in review", not good and bool(decision.review_reasons)),
        ):
            scores.add(truth.provider, what, when=when)
        scores.rules[decision.category_reason.rule].append((good, decision.category_reason.confidence))
        if not good:
            kind = f"category {row['category']} not {decision.category} ({decision.category_reason.rule})"
            scores.mistakes[kind + " DEFAULT NAME" * default].append(_line(row, decision))
        _score_name(row, decision, scores, truth)


def is_default_name(row: Row) -> bool:
    """Return True if an SDK generator took the path as resource and the method as verb (`auth.login.create`)."""
    last = split(row["path"].rstrip("/").rsplit("/", 1)[-1])
    verb = find_verb(last[0]) if last else None
    return (
        not row["operation_id"]
        and row["human_method"] in ("create", "list", "update")
        and verb is not None
        and verb.category is not Category.CREATE
        and split(row["human_resource"].rsplit(".", 1)[-1]) == last
    )


def _score_name(row: Row, decision: Decision, scores: Scores, truth: Truth) -> None:
    human = split(row["human_method"])
    if not human:
        return
    verb, ours = _verb(human), _verb(tuple(decision.verb.split("_")))
    thing = split(row["human_resource"].split(".")[-1])
    right = bool(thing) and singular(thing[-1]) in {singular(word) for word in split(decision.resource)}
    for of in ("", "people's ") if truth.named else ("",):
        scores.add(truth.provider, f"{of}verbs")
        scores.add(truth.provider, f"{of}verbs right", when=ours == verb)
        scores.add(truth.provider, f"{of}verbs nearly", when=ours == verb or {ours, verb} == {"get", "list"})
        scores.add(truth.provider, f"{of}resources", when=bool(thing))
        scores.add(truth.provider, f"{of}resources right", when=right)
    if truth.named:
        scores.verb_rules[decision.verb_rule][ours == verb] += 1
        if thing:
            scores.noun_rules[decision.noun_rule][right] += 1
    if truth.named and ours != verb:
        scores.verbs[verb, ours] += 1
        scores.mistakes[f"verb {verb}"].append(_line(row, decision))
    if truth.named and thing and not right:
        scores.mistakes["resource"].append(_line(row, decision))


def _verb(words: tuple[str, ...]) -> str:
    """Return the verb of a name in its canonical form, without what stands before it (bulk update)."""
    known = leading_verb(words)
    adverbs = 1 if known and len(words) > 1 and words[0] in ADVERBS else 0
    return CANONICAL.get(words[adverbs], words[adverbs])


def _line(row: Row, decision: Decision) -> str:
    human = f"{row['human_resource']}.{row['human_method']}"
    operation = decision.operation
    return (
        f"{row['document']}: {row['method']} {row['path']} [{operation.operation_id or ''}] {operation.summary[:60]!r}"
        f" {human} → {decision.name} ({decision.category_reason.note}; {decision.category_reason.confidence})"
    )


FIGURES = (
    ("category as the file has it", "as filed", "rows"),
    ("category by R-NAME-1", "by R-NAME-1", "rows"),
    ("verb, people's names", "people's verbs right", "people's verbs"),
    ("  get and list as one", "people's verbs nearly", "people's verbs"),
    ("resource, people's names", "people's resources right", "people's resources"),
    ("verb, all rows", "verbs right", "verbs"),
    ("  get and list as one (all)", "verbs nearly", "verbs"),
    ("resource, all rows", "resources right", "resources"),
    ("review list", "review", "rows"),
    ("review list, categories", "review categories", "rows"),
    ("wrong categories in it", "wrong in review", "wrong"),
    ("default names among wrong", "default names", "wrong"),
)


def figures(scores: Scores) -> dict[str, tuple[int, int]]:
    """Return each figure by its title: how many, of how many."""
    return {title: (scores.total(what), scores.total(of)) for title, what, of in FIGURES}


def report_each(documents: Sequence[Truth]) -> None:
    """Print what each figure gains and loses without each rule."""
    global _documents  # for the processes that are forked
    _documents = documents
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        results = pool.imap(_figures_without, ("", *rules()), chunksize=1)
        _, before = next(results)
        for rule, after in results:
            if not after:
                print(f"{rule:50} nothing is decided without it", flush=True)
                continue
            changes = [
                f"{title} {after[title] - share:+.2%}" for title, share in before.items() if after[title] != share
            ]
            print(f"{rule:50} {', '.join(changes) or 'nothing changes'}", flush=True)


_documents: Sequence[Truth] = ()


def _figures_without(rule: str) -> tuple[str, dict[str, float]]:
    if rule:
        leave_out(rule)
    try:
        scores = scores_of(_documents)
    except (AssertionError, LookupError, TypeError, ValueError):  # it is the last of its table, or others read it
        return rule, {}
    return rule, {title: right / max(count, 1) for title, (right, count) in figures(scores).items()}


def report(scores: Scores) -> None:
    """Print the figures of all and of each provider."""
    for title, (right, count) in figures(scores).items():
        print(f"{title:29} {right / max(count, 1):7.2%} of {count}")
    columns = ("rows", "real", "filed", "R-NAME-1", "default", "review", "verb", "resource")
    print(f"{'':24} " + " ".join(f"{column:>8}" for column in columns))
    for name, counts in sorted(scores.counts.items(), key=lambda pair: -pair[1]["rows"]):
        rows = counts["rows"]
        shares = [counts[what] / rows for what in ("as filed", "by R-NAME-1")]
        names = [f"{_share(counts, f'{what} right', what):>8}" for what in ("people's verbs", "people's resources")]
        print(
            f"{name:24} {rows:8} {counts['real']:8} " + " ".join(f"{share:8.1%}" for share in shares),
            f"{counts['default names']:8} {counts['review'] / rows:8.1%}",
            *names,
        )


def _share(counts: Counter[str], what: str, of: str) -> str:
    return f"{counts[what] / counts[of]:.1%}" if counts[of] else "–"


def report_rules(scores: Scores) -> None:
    """Print how often each rule erred, beside the confidence that it claims."""
    print(f"\n{'rule':28} {'decided':>8} {'wrong':>6} {'right':>8} {'claimed':>8}")
    for rule, outcomes in sorted(scores.rules.items(), key=lambda pair: -len(pair[1])):
        right = sum(good for good, _ in outcomes)
        claimed = fmean(confidence for _, confidence in outcomes)
        print(f"{rule:28} {len(outcomes):8} {len(outcomes) - right:6} {right / len(outcomes):8.1%} {claimed:8.2f}")
    for title, chosen in (("verb rule", scores.verb_rules), ("noun rule", scores.noun_rules)):
        print(f"\n{title:28} {'decided':>8} {'wrong':>6} {'right':>8}")
        for rule, counts in sorted(chosen.items(), key=lambda pair: -pair[1].total()):
            share = counts[True] / counts.total()
            print(f"{rule:28} {counts.total():8} {counts[False]:6} {share:8.1%}")
