"""The category of an operation (R-NAME-1): ordered rules with names, pure functions; the first that knows decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from aqlgen.decisions import Category, Evidence, Reason

from .facts import Facts
from .shape import Shape, is_plural

__all__ = ["RULES", "classify"]

Verdict: TypeAlias = tuple[Category, Evidence, float, str]


def classify(facts: Facts) -> tuple[Category, Reason]:
    """Give the category with the rule that decided it."""
    for name, rule in RULES:
        verdict = rule(facts)
        if verdict is not None:
            category, evidence, confidence, note = verdict
            return category, Reason(name, evidence, confidence, note)
    raise AssertionError("the last rule knows every operation")


def _metadata(facts: Facts) -> Verdict | None:
    given = facts.operation.extensions.get("x-mcpaql-category")
    if isinstance(given, str) and given.upper() in Category.__members__:
        return Category(given.upper()), Evidence.METADATA, 1.0, "x-mcpaql-category"
    return None


_KUBERNETES: Final = {
    **dict.fromkeys(("get", "list", "watch", "watchlist"), Category.READ),
    "post": Category.CREATE,
    **dict.fromkeys(("put", "patch"), Category.UPDATE),
    **dict.fromkeys(("delete", "deletecollection"), Category.DELETE),
    "connect": Category.EXECUTE,
}


def _kubernetes(facts: Facts) -> Verdict | None:
    given = facts.operation.extensions.get("x-kubernetes-action")
    if isinstance(given, str) and given in _KUBERNETES:
        return _KUBERNETES[given], Evidence.METADATA, 0.98, f"x-kubernetes-action: {given}"
    return None


def _procedure(facts: Facts) -> Verdict | None:
    """Read the verb of a remote procedure: its path is a name, and its method says nothing."""
    if facts.shape.procedure or "." in facts.operation.path.rsplit("/", 1)[-1].split("{")[0]:
        verb = facts.action or facts.named
        if verb and facts.method in ("GET", "POST") and (verb.strong or facts.method == "POST"):
            return verb.category, Evidence.RULE, 0.9 if verb.strong else 0.6, f"the procedure is called {verb.word}"
    return None


def _safe_method(facts: Facts) -> Verdict | None:
    if facts.method in ("HEAD", "OPTIONS", "TRACE"):
        return Category.READ, Evidence.RULE, 0.99, f"{facts.method} changes nothing"
    if facts.method not in ("GET", "QUERY"):
        return None
    verb = facts.named
    if (
        verb
        and verb.strong
        and verb.category in (Category.CREATE, Category.UPDATE, Category.DELETE)
        and verb.word in _MUTATING
    ):
        return verb.category, Evidence.HEURISTIC, 0.55, f"GET, but called {verb.word}"
    if (
        verb
        and verb.strong
        and verb.category is Category.EXECUTE
        and verb.word in ("connect", "login", "logout", "send", "trigger")
    ):
        return verb.category, Evidence.HEURISTIC, 0.55, f"GET, but called {verb.word}"
    if verb and verb.strong and verb.category is not Category.READ:
        return Category.READ, Evidence.HEURISTIC, 0.65, f"GET, but called {verb.word}"
    return Category.READ, Evidence.RULE, 0.98, "GET"


_MUTATING: Final = frozenset("create delete update remove insert set add patch revoke".split())
_LETTING_GO: Final = frozenset(
    "detach disassociate untag unassign unlink unfollow unstar unlike unmark unblock unlock unpin unmute unhide disable"
    " deactivate reset untrash restore cancel stop abort leave unban unpublish".split()
)


def _delete(facts: Facts) -> Verdict | None:
    """Judge a DELETE by its effect: what only lets go or ends something running deletes nothing."""
    if facts.method != "DELETE":
        return None
    for verb in (facts.action, facts.named):
        if verb and verb.word in _LETTING_GO:
            return verb.category, Evidence.RULE, 0.85, f"DELETE that only does {verb.word}"
    if facts.summary and facts.summary.word in _LETTING_GO and not facts.named:
        return facts.summary.category, Evidence.HEURISTIC, 0.65, f"DELETE, but its summary says {facts.summary.word}"
    return Category.DELETE, Evidence.RULE, 0.97, "DELETE"


def _patch(facts: Facts) -> Verdict | None:
    if facts.method != "PATCH":
        return None
    for verb in (facts.action, facts.named):
        if verb and verb.strong and verb.category in (Category.EXECUTE, Category.DELETE):
            return verb.category, Evidence.RULE, 0.75, f"PATCH, but called {verb.word}"
    return Category.UPDATE, Evidence.RULE, 0.97, "PATCH"


_GENERIC: Final = frozenset("post put create update patch set add write".split())


def _action_on_resource(facts: Facts) -> Verdict | None:
    """Read an action at the path's end (`…/cancel`), unless people gave the operation a verb that says more."""
    verb = facts.action
    if verb is None or facts.method not in ("POST", "PUT"):
        return None
    if facts.named and facts.named.strong and facts.named.word not in _GENERIC:
        return None
    if facts.named and facts.named.word in ("create", "add", "update", "set") and verb.category is Category.READ:
        return None
    return verb.category, Evidence.RULE, 0.93 if verb.strong else 0.75, f"the path ends in {verb.word}"


def _put(facts: Facts) -> Verdict | None:
    if facts.method != "PUT":
        return None
    verb = facts.named
    if verb and verb.strong and verb.category is not Category.READ:
        return verb.category, Evidence.RULE, 0.92, f"called {verb.word}"
    read = facts.shape
    if verb is None and facts.operation.body is None and _attaches(facts, read):
        return Category.CREATE, Evidence.HEURISTIC, 0.68, "PUT of a member, with nothing to send"
    if facts.summary and facts.named is None and facts.summary.category in (Category.CREATE, Category.EXECUTE):
        return facts.summary.category, Evidence.HEURISTIC, 0.72, f"its summary says {facts.summary.word}"
    return Category.UPDATE, Evidence.RULE, 0.93, "PUT"


def _attaches(facts: Facts, read: Shape) -> bool:
    """Whether a PUT names a member of a collection and sends nothing: it can only put the two together."""
    answers = [response for response in facts.operation.responses if response.status.startswith("2")]
    return read.item and len(read.nouns) > 1 and bool(answers) and not any(answer.media for answer in answers)


def _called(facts: Facts) -> Verdict | None:
    """Believe the verb that people used; `post` and `put` at its head only repeat the method."""
    verb = facts.named
    if verb is None or not verb.strong or verb.word in ("post", "put"):
        return None
    if (
        verb.word in ("create", "add")
        and facts.shape.item
        and facts.summary
        and facts.summary.category is Category.UPDATE
    ):
        return (
            Category.UPDATE,
            Evidence.HEURISTIC,
            0.6,
            f"called {verb.word}, but its summary says {facts.summary.word}",
        )
    return verb.category, Evidence.RULE, 0.93, f"called {verb.word}"


def _weakly_called(facts: Facts) -> Verdict | None:
    verb = facts.named
    if verb is None or verb.word in ("post", "put"):
        return None
    return verb.category, Evidence.HEURISTIC, 0.66, f"called {verb.word}"


def _search(facts: Facts) -> Verdict | None:
    """Find queries by their noun: `…/search`, `…/query`, `graphql` is none of them."""
    last = facts.shape.nouns[-1] if facts.shape.nouns else None
    if last and not last.parameters and {"search", "query", "lookup", "queries", "searches"} & set(last.words[-1:]):
        return Category.READ, Evidence.RULE, 0.8, f"the path ends in {last.words[-1]}"
    return None


def _summary(facts: Facts) -> Verdict | None:
    verb = facts.summary
    if verb is None:
        return None
    return verb.category, Evidence.RULE, 0.8, f"its summary says {verb.word}"


def _accepted(facts: Facts) -> Verdict | None:
    """Take an operation that only answers 202 for one that starts something."""
    answers = [response.status for response in facts.operation.responses if response.status.startswith("2")]
    if answers == ["202"] and not facts.shape.item:
        return Category.EXECUTE, Evidence.HEURISTIC, 0.6, "answers 202 and nothing else"
    return None


def _post_on_item(facts: Facts) -> Verdict | None:
    last = facts.shape.nouns[-1] if facts.shape.nouns else None
    if last and last.parameters and last.words not in last.parameters and not facts.shape.action:
        return Category.UPDATE, Evidence.RULE, 0.78, "POST on one item"
    return None


def _post_on_collection(facts: Facts) -> Verdict | None:
    last = facts.shape.nouns[-1] if facts.shape.nouns else None
    if last and is_plural(last.words):
        return Category.CREATE, Evidence.RULE, 0.85, "POST on a collection"
    return None


def _post(facts: Facts) -> Verdict | None:
    created = any(response.status == "201" for response in facts.operation.responses)
    if created:
        return Category.CREATE, Evidence.HEURISTIC, 0.75, "answers 201"
    if facts.shape.action and facts.action:
        return facts.action.category, Evidence.HEURISTIC, 0.6, f"the path ends in {facts.action.word}"
    if facts.shape.nouns:
        return Category.CREATE, Evidence.HEURISTIC, 0.6, f"{facts.method} with no verb"
    return Category.EXECUTE, Evidence.HEURISTIC, 0.5, f"{facts.method} with no verb and no noun"


RULES: Final[tuple[tuple[str, Callable[[Facts], Verdict | None]], ...]] = (
    ("declared", _metadata),
    ("kubernetes-action", _kubernetes),
    ("procedure-verb", _procedure),
    ("safe-method", _safe_method),
    ("delete-method", _delete),
    ("patch-method", _patch),
    ("action-on-resource", _action_on_resource),
    ("put-method", _put),
    ("named-verb", _called),
    ("search-noun", _search),
    ("summary-verb", _summary),
    ("accepted-only", _accepted),
    ("post-on-item", _post_on_item),
    ("weak-verb", _weakly_called),
    ("post-on-collection", _post_on_collection),
    ("method-only", _post),
)
"""Rules in order of trust. Each gives category, evidence, confidence and a note, or None where it does not apply."""
