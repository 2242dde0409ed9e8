"""What the page shows of an adapter, as data of JSON: bounded, with every foreign text made visible (R-OPS-1).

An item that something can be done about has a digest of all that is shown of it. What a person decides names the
digest, so that nobody approves what they have not seen.

The page shows the adapter that started it, on the store that its processes share.
"""

from __future__ import annotations

import getpass
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..assembly import adapter_secrets, checked_keys, open_audit
from ..logs import Logger
from ..safety.audit import Audit
from ..safety.loop.agents import Board
from ..safety.questions import Challenge, Question, QuestionStore
from ..settings.load import ConfigError, load
from ..state import StoreAway, canonical
from ..state.activity import Row, activity_of
from ..state.custody import MEMORY, Custody, State, open_store
from ..table import Adapter
from ..text import line, terminal_text, visible

if TYPE_CHECKING:
    from ..quota.counting import Quotas
    from ..safety.loop.agents import Block


class Source:
    """An adapter, as an operator reaches it."""

    def __init__(self, name: str, custody: Custody, audit: Audit, quotas: Quotas | None = None) -> None:
        self.name, self.custody, self.audit, self.quotas = name, custody, audit, quotas
        self.questions, self.board = QuestionStore(custody), Board(custody)


def home_source(folder: Path, environ: Mapping[str, str]) -> Source:
    """Return the adapter of a package. Raises ConfigError where nothing is shared.

    What an operator decides has to reach the adapter's processes, which they share a store for.
    """
    config, adapter = load(folder, environ), Adapter.load(folder)
    if config.state_url == MEMORY:
        raise ConfigError(
            "MCP_AQL_STATE_URL is memory:, so waiting calls stay inside each process, and no operator can reach "
            "them: remove the setting, or name a file or a Redis server"
        )
    keys = checked_keys(config, environ)
    secrets = adapter_secrets(adapter, environ, config)
    logger = Logger(config.log_level, adapter.package, secrets=lambda: secrets)
    audit = open_audit(config, adapter, environ, logger, lambda: secrets)
    custody = State(open_store(config.state_url, adapter.name, environ), adapter.name, keys).shared
    from ..quota.counting import Quotas

    return Source(adapter.name, custody, audit, Quotas(config, adapter.name, custody))


def operator_name(name: str) -> str:
    """Return how the audit log calls an operator: by a name, or by that of the user."""
    try:
        user = "" if name else getpass.getuser()
    except (OSError, KeyError, ImportError):
        user = ""
    return f"operator:{line(name or user, 60) or 'unknown'}"


SECTIONS = ("challenges", "blocks", "matters", "approvals", "refusals", "work")
"""The lists of items, the most urgent first."""

_MOST = 100
_LINE, _TEXT = 600, 40_000

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of an adapter: its items by section, the objects behind them by section and id.

    `problem` says in a sentence why something is missing, "" if nothing is.
    """

    sections: Mapping[str, Sequence[Item]] = field(default_factory=dict)
    objects: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    problem: str = ""


async def read(source: Source) -> Reading:
    """Read what an adapter has in its store. What cannot be read is a problem of the reading."""
    try:
        objects: dict[str, Sequence[Any]] = {
            "challenges": await source.questions.challenges(),
            "blocks": await source.board.blocks(),
            "matters": await source.questions.questions(),
            "approvals": await source.questions.approvals(),
            **await activity_of(source.custody, source.questions.clock()),
        }
    except StoreAway as away:
        return Reading(problem=f"Its store cannot be reached: {visible(str(away.args[0]))[:_LINE]}.")
    except (TypeError, KeyError, ValueError, AttributeError):
        return Reading(problem="The state of this adapter has another version.")
    sections = {name: [shown(name, item) for item in objects[name][:_MOST]] for name in SECTIONS}
    by_id = {(name, str(item.id)): item for name in SECTIONS for item in objects[name][:_MOST]}
    hidden = sum(max(0, len(items) - _MOST) for items in objects.values())
    problem = f"{hidden} more items are not shown: decide those that are first." if hidden else ""
    return Reading(sections, by_id, problem)


def shown(section: str, item: Any) -> Item:
    """Return an item of a section as the page shows it, with the digest of that."""
    values: Item = {"id": str(item.id), **_SHOWN[section](item)}
    changing = values.pop("changing", {})
    digest = hashlib.sha256(canonical(values).encode("utf-8", "surrogatepass")).hexdigest()
    return {**values, "digest": digest, **changing}


def _question(question: Question) -> Item:
    """Return a question. One that is too long to be shown whole cannot be approved here."""
    return {
        "kind": question.kind,
        "title": _line(question.title),
        "question": terminal_text(question.question[:_TEXT]),
        "whole": len(question.question) <= _TEXT and len(question.title) <= _LINE,
        "operations": _lines(question.operations),
        "danger": _line(question.danger),
        "reasons": _lines(question.reasons),
        **_who(question),
        "asked": question.asked,
        "changing": {
            "expires": question.expires,
            "verdict": question.verdict,
            "by": _line(question.by),
        },
    }


def _challenge(challenge: Challenge) -> Item:
    """Return a challenge. Of its code it says only whether one is good now."""
    return {
        **_who(challenge),
        "tier": challenge.tier,
        "action": terminal_text(challenge.action[:_TEXT]),
        "reason": terminal_text(challenge.reason[:_TEXT]),
        "factors": _lines(challenge.factors),
        "asked": challenge.asked,
        "changing": {"expires": challenge.expires, "has_code": bool(challenge.digest)},
    }


def _block(block: Block) -> Item:
    return {
        **_who(block),
        "action": terminal_text(block.action[:_TEXT]),
        "operation": _line(block.operation),
        "reason": terminal_text(block.reason[:_TEXT]),
        "factors": _lines(block.factors),
        "risk": block.risk,
        "changing": {"asked": block.since},
    }


def _approval(approval: Question) -> Item:
    return {
        "title": _line(approval.title),
        **_who(approval),
        "by": _line(approval.by),
        "asked": approval.asked,
        "changing": {"expires": approval.expires},
    }


def _refusal(refusal: Row) -> Item:
    return {name: _line(refusal.values[name]) for name in ("caller", "session", "operation", "code", "limit", "by")} | {
        "asked": refusal.values["asked"],
        "changing": {name: refusal.values[name] for name in ("count", "until", "seen")},
    }


def _work(work: Row) -> Item:
    return {
        "operation": _line(work.values["operation"]),
        "caller": _line(work.values["caller"]),
        "asked": work.values["asked"],
        "changing": {"status": _line(work.values["status"]), "seen": work.values["seen"], **work.values["counts"]},
    }


_SHOWN: Mapping[str, Callable[[Any], Item]] = {
    "matters": _question,
    "challenges": _challenge,
    "blocks": _block,
    "approvals": _approval,
    "refusals": _refusal,
    "work": _work,
}


def _who(item: Any) -> Item:
    """Return who something is about, as far as that is known."""
    return {name: _line(getattr(item, name, "")) for name in ("agent", "caller", "session")}


def _line(text: str) -> str:
    text = visible(str(text))
    return text if len(text) <= _LINE else f"{text[: _LINE - 1]}…"


def _lines(texts: Sequence[str]) -> list[str]:
    kept = [_line(text) for text in texts[:_MOST]]
    return kept if len(texts) <= _MOST else [*kept, f"… and {len(texts) - _MOST} more"]


async def read_quotas(source: Source) -> list[Item]:
    """Return the use of the quotas of an adapter. Raises StoreAway."""
    if source.quotas is None:
        return []
    from ..quota.limits import CALLER

    uses = await source.quotas.uses()
    return [
        {
            "metric": use.limit.metric,
            "scope": _line(use.limit.scope),
            "used": use.window.used,
            "warn": use.limit.warn,
            "pause": use.limit.pause,
            "most": use.limit.most,
            "status": use.status,
            "ends": use.window.ends,
        }
        for use in uses or ()
        if use.limit.scope != CALLER
    ]
