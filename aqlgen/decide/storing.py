"""Whether a request that may store something can be believed to read: taking a change for a READ is the worst error.

A verb that can only read is believed of a POST. One that may do more (analyze, scan, export, download) is believed
where an answer comes back and nothing says that something is started or kept. One that reads when it is a GET and
tells the server something when it is posted (report, load, watch) is not believed at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from aqlgen.decisions import Category, Evidence
from aqlgen.ir import Json
from aqlgen.words import split

from .answers import body_fields
from .facts import Facts
from .verbs import ADVERBS, Verb, find

__all__ = ["doubted"]

Doubt = tuple[Category, Evidence, float, str]

_READS: Final = frozenset(
    "get list retrieve fetch read describe find search query lookup show view count browse enumerate preview inspect"
    " introspect explain compare diff suggest tail aggregate estimate summarize peek exists has is check calculate"
    " compute validate lint reveal autocomplete ls parse tokenize decode obtain match history status usage stats"
    " details all info recommend scroll".split()
)
_TELLS: Final = frozenset("report load watch index head ping".split())
"""Read as a GET; posted, they tell the server something or set it to work."""

_ANSWERS_BY_STATUS: Final = frozenset("check exists has is validate".split())
_DECIDING: Final = frozenset(
    "state status approve approved approval reject rejected decision verdict resolution".split()
)
_CHANGES: Final = re.compile(
    r"\b(?:creat|stor|start|begin|trigger|queu|enqueu|schedul|send|submit|approv|reject|register|sav|initiat|generat|log"
    r"|sign)(?:e|es|s|ing|ed)?\s+(?:in|a|an|the|your|new)\b",
    re.IGNORECASE,
)
_LOGIN: Final = re.compile(r"\b(?:log|sign)[ -]?(?:in|on)\b", re.IGNORECASE)
_RECALCULATES: Final = re.compile(r"^\(?re\)?-?(?:calculat|comput|index|build|pars)", re.IGNORECASE)


def doubted(facts: Facts, confidence: float) -> Doubt | None:
    """Say what a request is that a rule takes for a READ; None where there is no doubt."""
    if facts.method not in ("POST", "PUT", "PATCH", "DELETE"):
        return None
    said = [verb for verb in (facts.named, facts.action, facts.summary) if verb and verb.category is Category.READ]
    if not said:  # the path's end alone says it
        last = split(facts.operation.path.rsplit("/", 1)[-1])
        said = [verb for each in last[-1:] if (verb := find(each)) and verb.category is Category.READ]
    word = said[0].word if said else "read"
    sure = any(verb.word in _READS for verb in said) or not said
    if facts.shape.action == ("read",) and _is_mark(facts):
        return Category.UPDATE, Evidence.HEURISTIC, 0.66, f"{facts.method} that ends in read marks what was read"
    if facts.method != "POST":
        return _written(facts, said, sure=sure)
    if said and all(verb.word in _TELLS for verb in said):
        return Category.EXECUTE, Evidence.RULE, 0.68, f"{facts.method} called {word} tells the server something"
    if _RECALCULATES.match(facts.operation.summary):
        return Category.EXECUTE, Evidence.HEURISTIC, 0.66, "its summary says that something is done again"
    silent = [one.status for one in facts.operation.responses if one.status in ("201", "202", "204") and not one.media]
    if silent and facts.nothing and word not in _ANSWERS_BY_STATUS:
        return Category.EXECUTE, Evidence.RULE, 0.75, f"called {word}, but answers {silent[0]} with nothing read"
    if word == "validate" and (_CHANGES.search(_told(facts)) or _LOGIN.search(facts.operation.summary)):
        return Category.EXECUTE, Evidence.HEURISTIC, 0.66, "called validate, but more is told of it"
    if sure:
        low = facts.nothing and word not in _ANSWERS_BY_STATUS
        return (Category.READ, Evidence.HEURISTIC, 0.75, f"called {word}, but answers nothing") if low else None
    if any(one.status == "202" for one in facts.operation.responses) or _CHANGES.search(_told(facts)):
        return Category.EXECUTE, Evidence.HEURISTIC, 0.66, f"called {word}, but starts or keeps something"
    if _DECIDING & _fields(facts).keys():
        return Category.EXECUTE, Evidence.HEURISTIC, 0.66, f"called {word}, but sends a decision"
    return Category.READ, Evidence.HEURISTIC, min(confidence, 0.68), f"called {word}, which may do more than read"


def _is_mark(facts: Facts) -> bool:
    """Whether what the path names was read, and is marked so; not where many are asked for (`/batch/read`)."""
    called = facts.named.word if facts.named else "read"
    nouns = facts.shape.nouns
    return called == "read" and bool(nouns) and nouns[-1].words[-1] not in ADVERBS and ":" not in facts.operation.path


def _written(facts: Facts, said: list[Verb], *, sure: bool) -> Doubt | None:
    """Take a PUT, PATCH or DELETE for what its method says, but where a sure verb of reading stands at its head."""
    called = facts.given or facts.operation.operation_id or ""
    heads = {split(called)[:1], split(re.split(r"[/._]", called)[-1])[:1], facts.shape.action[:1]}
    if sure and said and (said[0].word,) in heads and not facts.nothing:
        return Category.READ, Evidence.HEURISTIC, 0.6, f"{facts.method}, but called {said[0].word}"
    category = Category.DELETE if facts.method == "DELETE" else Category.UPDATE
    return category, Evidence.HEURISTIC, 0.6, f"{facts.method}, though called {said[0].word if said else 'read'}"


def _told(facts: Facts) -> str:
    return f"{facts.operation.summary}. {facts.operation.description[:300]}"


def _fields(facts: Facts) -> Mapping[str, Json]:
    return body_fields(facts.operation, facts.resolver)
