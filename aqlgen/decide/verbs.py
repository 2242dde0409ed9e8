"""The verbs that APIs use: the category each stands for by its effect (R-NAME-1), its canonical relative (R-NAME-2).

A verb is strong when a word of its kind at the head of a name can hardly be a noun (`delete`, `list`); a weak one
(`report`, `tag`, `test`) counts only where nothing stronger speaks. The specification's edge cases decide doubtful
ones: an upsert is CREATE, a verb with an effect outside the stored data is EXECUTE, and what only computes is READ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from aqlgen.decisions import Category

__all__ = ["ADVERBS", "CANONICAL", "ONE", "Verb", "derived", "find", "leading"]


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb with the category it stands for; `strong` when it can hardly be a noun."""

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
_WEAK: Final = {
    Category.READ: "obtain filter match report history status watch usage stats details all index head info load",
    Category.CREATE: "snapshot issue request comment fork backup",
    Category.UPDATE: "tag share switch scale tune rate flag label vote",
    Category.DELETE: "release",
    Category.EXECUTE: (
        "test signal transform price track chat step return end advance abandon invalidate respond record ocr crawl"
        " scrape moderate completion completions review audit tidy"
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
"""What a verb becomes that says no more than its canonical relative; every other verb stays (R-NAME-2)."""

ADVERBS: Final = frozenset(
    (
        "async auto batch bulk conditionally deep direct directly force hard internal manually mass multi"
        " multiple partial partially permanently public publicly quick quickly soft sync temporarily try"
    ).split()
)
"""Words that may stand before the verb."""

ONE: Final = frozenset({"info", "details"})
"""Verbs that speak of one thing, in whatever number (`/templates/info`)."""


_LOOKALIKES: Final = frozenset({"research", "recall", "remake", "resubmission", "unlist", "recopy"})
"""Words that only look like `re…` or `un…` of a verb."""


@cache
def _table() -> dict[str, Verb]:
    table: dict[str, Verb] = {}
    for strong, groups in ((False, _WEAK), (True, _STRONG)):
        for category, words in groups.items():
            for word in words.split():
                table[word] = Verb(word, category, strong)
    return table


@cache
def find(word: str) -> Verb | None:
    """Give the verb that a word is; `re…`, `un…` and `de…` of a known verb count too (rebuild, untag, detokenize)."""
    table = _table()
    if word in table:
        return table[word]
    if word in _LOOKALIKES:
        return None
    if word.startswith("re") and len(word) > 5 and (known := table.get(word[2:])) and known.strong:
        again = known.category in (Category.CREATE, Category.READ)  # what is read or made once more is there already
        return Verb(word, Category.EXECUTE if again else known.category, strong=True)
    if word.startswith("un") and len(word) > 5 and (known := table.get(word[2:])):
        category = Category.EXECUTE if known.category is Category.EXECUTE else Category.UPDATE
        return Verb(word, category, strong=True)
    if word.startswith("de") and len(word) > 6 and (known := table.get(word[2:])) and known.strong:
        return Verb(word, Category.DELETE if known.category is Category.CREATE else known.category, strong=True)
    return None


@cache
def derived(noun: str) -> Verb | None:
    """Give the strong verb that a noun comes from: a capture, a reversal, a registration, a check; None if none."""
    stems = [noun]
    for ending, verbs in _DERIVED.items():
        if noun.endswith(ending) and len(noun) - len(ending) > 2:
            stems += [noun[: -len(ending)] + verb for verb in verbs]
    return next((verb for stem in stems if (verb := _table().get(stem)) and verb.strong), None)


_DERIVED: Final = {
    "lation": ("", "late", "l"),
    "ication": ("y", "icate"),
    "ation": ("e", "ate", ""),
    "ssion": ("t", "ss"),
    "sion": ("d",),
    "tion": ("te", "t", ""),
    "ption": ("be", "pt"),
    "ment": ("",),
    "al": ("", "e"),
    "ing": ("", "e"),
    "ure": ("",),
    "ance": ("", "e"),
}


def leading(words: tuple[str, ...]) -> tuple[Verb, int] | None:
    """Read the verb at the head of some words, with the number of words it takes.

    Counts adverbs in (bulk delete), verbs of two words (sign in, roll back, look up) and upserts (create or update).
    """
    start = 1 if len(words) > 1 and words[0] in ADVERBS and find(words[1]) else 0
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
    if rest[1:2] in (("one",), ("all",), ("many",)) and (then := _joined(rest)) is not None:
        return then[0], start + then[1]
    if (two := _PAIRS.get(" ".join(rest[:2]))) is not None:
        return two, start + 2
    if rest[:2] == ("add", "on"):
        return None
    verb = find(rest[0])
    if verb is not None and verb.category is Category.READ and (then := _joined(rest)) is not None:
        return then[0], start + then[1]
    return (verb, start + 1) if verb is not None else None


def _joined(words: tuple[str, ...]) -> tuple[Verb, int] | None:
    """Read what changes something after it is found: get or create, find one and delete."""
    at = next((at for at, word in enumerate(words[:3]) if word in ("and", "or")), 0)
    verb = find(words[at + 1]) if at and len(words) > at + 1 else None
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
