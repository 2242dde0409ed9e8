"""Doubts about a READ: a GET that acts, and a POST that may do more than read (RFC 9110, 9.2.1).

Taking a change for a READ is the worst error. The request of a GET has its path and its parameters, so they count under
any name of the operation: `GET /users/delete/{id}`, `?action=delete`. A verb of reading is a claim of the document
about a POST; the path, the answer, and the clauses of the text can refute it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from aqlgen.decide.carried import CHOOSERS
from aqlgen.decide.category.evidence import Verdict
from aqlgen.decide.decision import Category, Evidence
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.noun import head_size, is_plural
from aqlgen.decide.naming.verbs import ADVERBS, Verb, find_verb, leading_verb
from aqlgen.decide.sentences import Act, clauses, irreversible
from aqlgen.ir import Location
from aqlgen.words import split

COMPUTING: Final = frozenset(
    "render evaluate predict detect classify convert transform translate test generate".split()
)
"""Verbs that may leave everything as it was."""
_CHANGES: Final = frozenset(
    "delete remove destroy purge erase wipe revoke truncate unsubscribe deregister unregister logout terminate"
    " reboot shutdown deactivate rotate uninstall kill".split()
)
"""Verbs that are hardly ever the noun of something that is read, unlike `archive`, `merge`, `reset` or `restart`."""
_LAST: Final = frozenset("reset restart drop flush disable suspend ban block".split())
"""Verbs that count only where the path ends in them, behind an item."""
_INFORMS: Final = frozenset("report load watch index head ping".split())
"""Verbs that read as a GET; as a POST, they tell the server something or set it to work."""
_CREDENTIALS: Final = frozenset({"token", "jwt", "credential"})
_FOR_THE_ANSWER: Final = frozenset(
    "preview search query estimate quote view list summary copy response request result filter report".split()
)
"""Things that are made for the answer and are not kept."""
_PARAMETER: Final = re.compile(r"\{[^{}]*\}")
_SEGMENTS: Final = re.compile(r"[/:#.]")
_PAIR: Final = re.compile(r"(?:^|[?&#;])([A-Za-z_.-]+)=([^&#;{}]+)")


class SentAct(NamedTuple):
    """The verb that the path or the parameters of a request state, and a note that quotes them."""

    verb: Verb
    note: str


def sent_act(facts: Facts) -> SentAct | None:
    """Return the action of a request by a safe method; None for one that only reads."""
    path, _, query = facts.operation.path.partition("?")
    segments = [segment for segment in _SEGMENTS.split(path) if segment]
    literal = [index for index, segment in enumerate(segments) if "{" not in segment]
    if literal:
        last = literal[-1]  # of `/purge/{id}/status` it is `status`: what was started
        words = split(segments[last])
        verb, used = leading_verb(words) or (None, 0)
        ends = "{" in segments[last - 1] and last + 1 == len(segments) and not _LAST.isdisjoint(words[:1])
        is_thing = len(words) > used and is_plural(words)
        if verb is not None and (verb.word in _CHANGES or ends) and not is_thing:
            return SentAct(verb, f"its path says {verb.word}")
    return next(_chosen(query, facts), None)


def _chosen(query: str, facts: Facts) -> Iterator[SentAct]:
    """Yield the verbs that a literal query or the declared values of a parameter choose."""
    pairs = _PAIR.findall(f"?{query}") if query else []
    for parameter in facts.operation.parameters:
        schema = parameter.schema if isinstance(parameter.schema, dict) else {}
        enum = schema.get("enum")
        values = [schema.get("const"), schema.get("default"), *(enum if isinstance(enum, list) else ())]
        if parameter.location is Location.QUERY:
            pairs += [(parameter.name, value) for value in values if isinstance(value, str)]
    for name, value in pairs:
        verb = find_verb(next(iter(split(value[:60])), "")) if name.lower() in CHOOSERS else None
        if verb and (verb.category is Category.DELETE or verb.word in _CHANGES):
            yield SentAct(verb, f"its parameter {name} may be {value[:40]}")


def path_acts(facts: Facts) -> str:
    """Find the verb of a change in the last fixed segment (`/direct_upload`, `/purge`), unless a READ heads it."""
    fixed = re.split(r"[/:]", _PARAMETER.sub("", facts.operation.path.split("?")[0]))
    words = next((split(part) for part in reversed(fixed) if part.strip("/:.")), ())
    head = find_verb(words[0]) if words else None
    joins = not {"and", "or"}.isdisjoint(words)
    if not words or (head is not None and head.category is Category.READ and not joins):
        return ""
    is_adverb = words[0] in ADVERBS and len(words) > 1
    if facts.last_noun is not None and facts.last_noun.words == words and len(words) > 1 and not is_adverb:
        return ""
    word = words[1] if is_adverb else words[0]
    return f"its path says {word}" if _is_change(word) else ""


def _is_change(word: str) -> bool:
    verb = find_verb(word)
    return verb is not None and verb.strong and verb.category is not Category.READ and word not in COMPUTING


def _issues_credential(facts: Facts) -> str:
    """Find a token that is made for the caller (`get_access_token` of `…/authenticate`, "Get an auth token for …")."""
    spoken = facts.phrase.object if facts.phrase and not facts.shape.queried else ()
    things = [spoken] if facts.named_verb and facts.named_verb.word != "list" else []
    things += [act.object[: head_size(act.object, 1)] for act in clauses(facts.operation) if "get" in act.verbs]
    thing = next((thing for thing in things if _CREDENTIALS & set(thing[-1:])), ())
    return f"it issues a {' '.join(thing)}" if thing else ""


def _answers_created(facts: Facts) -> str:
    """Take 201 or 202 alone, or the header Location, for what they say (RFC 9110, 15.3.2, 15.3.3 and 10.2.2)."""
    good = [response for response in facts.operation.responses if response.status.startswith("2")]
    if {response.status for response in good} in ({"201"}, {"202"}):
        return f"it answers {good[0].status} alone"
    has_location = any(header.lower() == "location" for response in good for header in response.headers)
    return "it answers with a Location" if has_location else ""


def text_acts(facts: Facts) -> str:
    """Find a clause that says what the operation does: "Creates a report", "This call sends an email"."""
    for act in clauses(facts.operation):
        if changes(act) and any(form.endswith("s") and form[:-1] in act.verbs for form in act.verbs):
            return f"its text says {act.says}"
    return ""


def changes(act: Act) -> bool:
    """Return True if an act changes something beyond its answer; sending to somebody counts as a change."""
    is_answer = "to" not in act.object and not _FOR_THE_ANSWER.isdisjoint(act.object[:5])
    return not act.is_denied and any(map(_is_change, act.verbs)) and not is_answer


def doubt_read(facts: Facts) -> Verdict | None:
    """Return another verdict on a POST or PUT that a rule decided as READ; None without a doubt."""
    if facts.method not in ("POST", "PUT"):
        return None
    verbs = (facts.named_verb, facts.action_verb, facts.summary_verb)
    words = [verb.word for verb in verbs if verb and verb.category is Category.READ]
    words = words or list(split(facts.operation.path.rsplit("/", 1)[-1])[-1:])
    called = f"the document names it {words[0] if words else 'read'}"
    if words and _INFORMS.issuperset(words):
        note = f"{called}, but the {facts.method} sends information to the server"
        return Verdict(Category.EXECUTE, Evidence.HEURISTIC, 0.68, note)
    sentence = irreversible(facts.operation)
    by_text = f"its text says “{sentence}”" if sentence else text_acts(facts)
    if note := path_acts(facts) or _issues_credential(facts) or _answers_created(facts) or by_text:
        return Verdict(Category.EXECUTE, Evidence.HEURISTIC, 0.6, f"{called}, but {note}")
    statuses = {response.status for response in facts.operation.responses}
    if facts.answers_nothing and not statuses.isdisjoint(("201", "202", "204")):
        return Verdict(Category.EXECUTE, Evidence.HEURISTIC, 0.66, f"{called}, but it answers nothing")
    return None
