"""The verbs that APIs use: their category by effect (R-NAME-1) and their canonical verb (R-NAME-2).

A verb is strong if it is hardly ever a noun at the head of a name (`delete`, `list`); a weak one (`report`, `tag`,
`test`) counts only where no strong verb is found. The specification's edge cases decide doubtful verbs: one with an
effect outside the stored data is EXECUTE, and one that only computes is READ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from aqlgen.decide.decision import Category


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb with its category; `strong` if it is hardly ever a noun."""

    word: str
    category: Category
    strong: bool


_STRONG: Final = {
    Category.READ: (
        "get list retrieve fetch read describe find search query lookup show view count browse enumerate download"
        " export preview inspect introspect explain compare diff discover ping suggest scan tail aggregate"
        " estimate identify summarize analyze peek exists has is can check calculate compute validate"
        " lint reveal autocomplete ls parse extract tokenize decode recommend scroll geocode"
    ),
    Category.CREATE: (
        "create add insert new register upload import copy clone duplicate append store post upsert save"
        " subscribe invite enroll allocate provision signup place star follow bookmark favorite favourite like"
        " make instantiate establish seed propose"
    ),
    Category.UPDATE: (
        "update patch modify edit set put replace change configure enable disable activate deactivate reactivate"
        " archive unarchive lock unlock rename move assign unassign attach detach associate disassociate link"
        " unlink grant restrict undelete untrash unhide hide pin unpin mute unmute block unblock resize convert"
        " toggle extend restore regenerate rotate renew reset adjust deprecate demote promote reassign untag mark"
        " unmark unstar unfollow unlike write recover transfer alter overwrite reorder customize touch override"
        " bind unbind relocate dissociate reprioritize populate manage revise redact"
    ),
    Category.DELETE: (
        "delete remove destroy purge revoke erase drop wipe deregister unregister unsubscribe forget clear flush"
        " empty truncate trash uninvite prune discard"
    ),
    Category.EXECUTE: (
        "execute run start stop cancel send resend publish unpublish retry rerun restart reboot pause resume"
        " suspend unsuspend trigger invoke submit approve reject accept decline complete confirm verify login"
        " logout deploy undeploy redeploy install uninstall sync synchronize refresh reload rebuild replicate"
        " redeliver dismiss abort terminate rollback failover migrate upgrade initiate initialize begin finish"
        " downgrade merge rebase crosspost predict detect translate transcribe classify recognize embed rerank infer"
        " synthesize evaluate encrypt decrypt rewrap sign unsign authorize authenticate deauthorize capture refund"
        " charge pay settle redeem void withdraw notify broadcast announce reply forward dial hangup answer play"
        " speak gather perform apply schedule unschedule reschedule reissue repair reimage shutdown train compact"
        " swap revert seal unseal kick ban unban call exec launch push pull commit fulfill ack acknowledge nack"
        " process reprocess generate render skip seek escalate consume deny fire exchange prepare enhance reverse"
        " open snooze unsnooze join leave claim rescan reindex warm evict drain cordon uncordon impersonate"
        " optimize enqueue dequeue requeue heartbeat wait ingest rewind power wake reconcile recompute recalculate"
        " reconnect disconnect connect emit dispatch deidentify anonymize finalize expire close reopen redrive"
        " replay resolve adopt undo redo materialize distribute buy purchase deposit rerequest refer"
        " wrap unwrap simulate kill"
    ),
}
READING: Final = frozenset(_STRONG[Category.READ].split())
_WEAK: Final = {
    Category.READ: "obtain filter match report history status watch usage stats details all index head info load",
    Category.CREATE: "snapshot issue request comment fork backup",
    Category.UPDATE: "tag share switch scale tune rate flag label vote",
    Category.DELETE: "release",
    Category.EXECUTE: (
        "test signal transform price track chat step return end advance abandon invalidate respond record ocr crawl"
        " scrape ship deliver fail increment decrement halt moderate completion completions review audit tidy"
    ),
}
CANONICAL: Final = {
    "retrieve": "get",
    "fetch": "get",
    "read": "get",
    "show": "get",
    "view": "get",
    "load": "get",
    "info": "get",
    "obtain": "get",
    "details": "get",
    "head": "get",
    "ls": "list",
    "enumerate": "list",
    "browse": "list",
    "all": "list",
    "index": "list",
    "add": "create",
    "insert": "create",
    "new": "create",
    "make": "create",
    "post": "create",
    "modify": "update",
    "edit": "update",
    "patch": "update",
    "put": "update",
    "change": "update",
    "replace": "update",
    "alter": "update",
    "adjust": "update",
    "write": "update",
    "overwrite": "update",
    "remove": "delete",
    "destroy": "delete",
    "erase": "delete",
    "exec": "execute",
    "perform": "execute",
}
"""Verbs that say no more than a canonical verb and are replaced by it; every other verb is kept (R-NAME-2)."""

ADVERBS: Final = frozenset(
    (
        "async auto batch bulk conditionally deep direct directly force hard internal manually mass multi"
        " multiple partial partially permanently public publicly quick quickly soft sync temporarily try"
    ).split()
)
"""Words that may stand before the verb."""

ONE_THING: Final = frozenset({"info", "details"})
"""Verbs that are about one thing, even behind a plural (`/templates/info`)."""


@cache
def _table() -> dict[str, Verb]:
    table: dict[str, Verb] = {}
    for strong, groups in ((False, _WEAK), (True, _STRONG)):
        for category, words in groups.items():
            for word in words.split():
                table[word] = Verb(word, category, strong)
    return table


@cache
def find_verb(word: str) -> Verb | None:
    """Return the verb that a word is; `re…` and `un…` of a known verb count too (rebuild, untag)."""
    if word in _table():
        return _table()[word]
    return _repeated(word) or _undone(word)


def _repeated(word: str) -> Verb | None:
    known = _table().get(word[2:]) if word.startswith("re") and len(word) > 5 else None
    if known is None or not known.strong or known.category is Category.READ:
        return None  # `research` is no search
    is_made = known.category is Category.CREATE  # what is made once more exists already
    return Verb(word, Category.EXECUTE if is_made else known.category, strong=True)


def _undone(word: str) -> Verb | None:
    known = _table().get(word[2:]) if word.startswith("un") and len(word) > 5 else None
    if known is None:
        return None
    category = Category.EXECUTE if known.category is Category.EXECUTE else Category.UPDATE
    return Verb(word, category, strong=True)


def without_third_person(word: str) -> str:
    """Return the base form of a verb: lists is list, searches is search, modifies is modify."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes", "oes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def leading_verb(words: tuple[str, ...]) -> tuple[Verb, int] | None:
    """Return the verb at the head of some words, with the number of words that it takes.

    The number includes adverbs (bulk delete); verbs of two words (sign in, roll back) and upserts (create or update)
    are known.
    """
    start = 1 if len(words) > 1 and words[0] in ADVERBS and find_verb(words[1]) else 0
    rest = words[start:]
    if not rest:
        return None
    if rest[:3] in (
        ("create", "or", "update"),
        ("create", "or", "replace"),
        ("add", "or", "update"),
        ("update", "or", "create"),
    ):
        return Verb("upsert", Category.CREATE, strong=True), start + 3
    if rest[1:2] in (("one",), ("all",), ("many",)) and (second := _joined_verb(rest)) is not None:
        return second[0], start + second[1]
    if (pair := _PAIRS.get(" ".join(rest[:2]))) is not None:
        return pair, start + 2
    verb = find_verb(rest[0])
    if verb is not None and verb.category is Category.READ and (second := _joined_verb(rest)) is not None:
        return second[0], start + second[1]
    return (verb, start + 1) if verb is not None else None


def _joined_verb(words: tuple[str, ...]) -> tuple[Verb, int] | None:
    """Return the second verb of `get or create` and `find one and delete`, which changes what the first one found."""
    at = next((at for at, word in enumerate(words[:3]) if word in ("and", "or")), 0)
    verb = find_verb(words[at + 1]) if at and len(words) > at + 1 else None
    return (verb, at + 2) if verb is not None and verb.strong and verb.category is not Category.READ else None


_PAIRS: Final = {
    **dict.fromkeys(("find all", "get all", "list all", "find many"), Verb("list", Category.READ, strong=True)),
    **dict.fromkeys(("find one", "get one"), Verb("get", Category.READ, strong=True)),
    "sign in": Verb("login", Category.EXECUTE, strong=True),
    "log in": Verb("login", Category.EXECUTE, strong=True),
    "sign out": Verb("logout", Category.EXECUTE, strong=True),
    "log out": Verb("logout", Category.EXECUTE, strong=True),
    "sign up": Verb("signup", Category.CREATE, strong=True),
    "roll back": Verb("rollback", Category.EXECUTE, strong=True),
    "fail over": Verb("failover", Category.EXECUTE, strong=True),
    "reverse geocode": Verb("reverse_geocode", Category.READ, strong=True),
    "look up": Verb("lookup", Category.READ, strong=True),
    "shut down": Verb("shutdown", Category.EXECUTE, strong=True),
    "soft delete": Verb("delete", Category.DELETE, strong=True),
    "opt in": Verb("opt_in", Category.UPDATE, strong=True),
    "opt out": Verb("opt_out", Category.UPDATE, strong=True),
    "check in": Verb("check_in", Category.EXECUTE, strong=True),
    "check out": Verb("check_out", Category.EXECUTE, strong=True),
    "test iam": Verb("test", Category.READ, strong=True),
}


_CANONICAL_VERBS: Final = frozenset("create get list update delete execute cancel".split())
_LISTING: Final = frozenset("search find query lookup filter match browse scan discover suggest autocomplete".split())
"""Verbs that return many things unless the response schema says otherwise."""
_CANCELLING: Final = frozenset("cancel stop abort terminate halt".split())


def canonical_relative(verb: str, category: Category, answers_list: bool | None) -> str:
    """Return the canonical verb that a verb is a kind of, "" if it is canonical: search is a kind of list (R-NAME-2).

    An agent that knows only the canonical verbs learns by it what an operation does. `answers_list` is None where the
    document does not say whether the response is a list.
    """
    if verb in _CANONICAL_VERBS:
        return ""
    words = frozenset(verb.split("_"))
    if category is Category.READ:
        listing = "list" in words or bool(answers_list) or (answers_list is None and words & _LISTING)
        return "list" if listing else "get"
    if category is Category.EXECUTE and words & _CANCELLING:
        return "cancel"
    return category.family
