"""The rules of effects on others: what moves money, gives or takes access, or reaches people (R-EFF-1).

Words are heads of what an operation acts on, and names of the fields that it sends. A rule whose words are beside that
only doubts, so that structure alone proves nothing; what is found for sure is asked about each time.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from aqlgen.decide.clauses import Words
from aqlgen.decide.decision import Category, Danger, Effect
from aqlgen.decide.effects.reading import Reading
from aqlgen.decide.naming.noun import head_size
from aqlgen.words import singular, split

__all__ = ["MEANS", "Finding", "access", "access_beside", "money", "money_beside", "people", "people_beside"]


class Finding(NamedTuple):
    """An effect, the level of danger that it stands for, and what says so."""

    effect: Effect
    level: Danger
    says: str
    kind: str = "structure"


# Money

_PAYING: Final = frozenset(
    "pay payout refund withdraw disburse reimburse repay remit purchase buy donate debit".split()
)
"""Verbs that move money whatever they act on."""
_MOVEMENTS: Final = frozenset(
    "payment payout refund withdrawal disbursement chargeback donation remittance reimbursement money fund cash".split()
)
"""Things that are money or its movement."""
_DOUBTFUL: Final = frozenset(
    "transfer deposit charge order transaction credit trade invoice dispute balance bid capture reversal loan"
    " settlement topup wallet exchange conversion subscription coin saving billing salary payroll mandate".split()
)
"""Things that are if the request says so: by an amount, or by what it is paid with or to."""
_PREPARING: Final = frozenset(
    "draft preview estimate quote calculate simulate validate check search list verify test template prepare get"
    " export cancel stop abort pause download import sync report update edit patch remind".split()
)
"""Verbs that move nothing, or that avert it."""
_AMOUNTS: Final = frozenset("amount amt price total quantity qty value sum balance".split())
_PARTIES: Final = frozenset(
    "recipient beneficiary payee receiver destination iban payer card source wallet currency asset symbol"
    " creditor debtor ach bank payment deposit payout".split()
)


_BOUGHT: Final = frozenset("transfer deposit order purchase trade bid topup".split())
"""Those that are if an amount is sent."""
_SETTLING: Final = frozenset(
    "execute initiate submit send approve accept confirm complete authorize release capture reverse settle deposit"
    " transfer distribute fund redeem void close sell".split()
)
"""Verbs that move what may be money."""
_BILLING: Final = frozenset("charge bill debit deduct".split())
_MUCH: Final = 0.25
"""The share of paths that speak of money from which on an API is about money."""


def money(reading: Reading) -> Finding | None:
    """Find what moves money: a verb of paying, a movement of money that is made, or an amount with a party to it."""
    facts, amounts = reading.facts, reading.sends(_AMOUNTS)
    is_made = facts.method == "POST" and not facts.shape.item and not facts.shape.action
    if is_made and _head(reading.thing) in _MOVEMENTS and (amounts or not reading.fields):
        return Finding(Effect.MONEY, Danger.DANGEROUS, f"it makes a {_head(reading.thing)}")
    if facts.method == "DELETE" or all(name[0] in _PREPARING for name in reading.names):
        return None
    parties = reading.sends(_PARTIES)
    makes = reading.category is Category.CREATE
    for act in reading.acts:
        if act.is_denied or not act.verbs.isdisjoint(_PREPARING):
            continue
        head = _head(act.object)
        moves = head in _MOVEMENTS and bool(amounts or not reading.fields)
        is_settled = makes or not act.verbs.isdisjoint(_SETTLING)
        may_move = head in _DOUBTFUL and bool((amounts and parties) or (is_settled and _is_about_money(reading)))
        is_bought = head in _BOUGHT and is_settled and bool(amounts)
        is_billed = act.kind == "sentence" and len(act.verbs) > 1 and not act.verbs.isdisjoint(_BILLING)
        if act.verbs & _PAYING or moves or may_move or is_bought or is_billed:
            return Finding(Effect.MONEY, Danger.DANGEROUS, act.says, act.kind)
    return None


def _is_about_money(reading: Reading) -> bool:
    """Return True if much of the API acts on money, so that a doubtful word is one of money."""
    around = reading.around

    def share() -> float:
        words = [set(map(singular, split(subject.operation.path))) for subject in around.subjects]
        return sum(not (_MOVEMENTS | _DOUBTFUL).isdisjoint(each) for each in words) / max(len(words), 1)

    return around.once("share of money", share) >= _MUCH


def money_beside(reading: Reading) -> Finding | None:
    """Find what may move money: a word of money in its names, or an amount that it sends to somebody."""
    heads = {_head(reading.thing), _head(reading.object)}
    words = heads & (_MOVEMENTS | _DOUBTFUL)
    if words and reading.category is not Category.UPDATE:
        return Finding(Effect.MONEY, Danger.REVERSIBLE, f"it speaks of {min(words)}")
    parties = reading.sends(_PARTIES - {"source", "destination", "asset", "symbol"})
    return Finding(Effect.MONEY, Danger.REVERSIBLE, f"it sends {parties}", "field") if parties else None


def _head(words: Words) -> str:
    """Return the noun that an object is about: the last before a preposition."""
    return words[head_size(words, 0) - 1] if words[: head_size(words, 0)] else ""


# Access

MEANS: Final = frozenset(
    "key token secret credential password passkey role permission grant acl membership session mfa otp factor"
    " authenticator certificate invitation invite sso privilege scope access auth authentication login"
    " impersonation whitelist allowlist cryptokey identity share".split()
)
"""Things by which people are admitted, or that give rights."""
_PEOPLE: Final = frozenset(
    "user account employee person principal customer guest operator member owner admin collaborator".split()
)
_RIGHTS: Final = frozenset(
    "role permission password passphrase admin superuser privilege scope access pin secret".split()
)
_ADMITTING: Final = frozenset(
    "impersonate promote demote grant revoke authorize ban unban suspend unsuspend block unblock deactivate"
    " reactivate activate assign".split()
)
"""Verbs that take from somebody what they could do, or give it to them."""
_RAISING: Final = frozenset("impersonate promote demote grant revoke".split())
"""Those that do so whatever they are said of."""
_MEMBERS: Final = frozenset("member participant user guest owner admin collaborator".split())
_JOINING: Final = frozenset({"add", "remove", "invite"})
_MAKING: Final = frozenset({"create", "set", "put", "replace"})


def access(reading: Reading) -> Finding | None:
    """Find what gives or takes rights, keys and ways in."""
    heads = {_head(reading.thing), _head(reading.object)}
    if means := heads & MEANS:
        return Finding(Effect.ACCESS, Danger.DESTRUCTIVE, f"it changes a {min(means)}")
    if heads & _PEOPLE and (rights := reading.sends(_RIGHTS)):
        return Finding(Effect.ACCESS, Danger.DESTRUCTIVE, f"it sends {rights}", "field")
    verbs = reading.verb_words & (_ADMITTING if heads & _PEOPLE else _RAISING)
    nouns = reading.facts.shape.nouns
    if heads & _MEMBERS and len(nouns) != 1:
        is_within = any(noun.parameters for noun in nouns[:-1])
        verbs |= reading.verb_words & (_JOINING | _MAKING if is_within else _JOINING)
    return Finding(Effect.ACCESS, Danger.DESTRUCTIVE, f"it is called {min(verbs)}") if verbs else None


def access_beside(reading: Reading) -> Finding | None:
    """Find what may give access: a word of it in its names or fields, or a secret that it answers with."""
    nouns = frozenset((*reading.thing, *reading.object))
    words = (nouns & MEANS) | (reading.verb_words & _ADMITTING)
    if words:
        return Finding(Effect.ACCESS, Danger.REVERSIBLE, f"it speaks of {min(words)}")
    if rights := reading.sends(_RIGHTS):
        return Finding(Effect.ACCESS, Danger.REVERSIBLE, f"it sends {rights}", "field")
    return None


# People

_REACHING: Final = frozenset(
    "send resend notify invite broadcast announce forward email mail dial call fax sms text".split()
)
_MESSAGES: Final = frozenset(
    "message email mail sms mms notification invitation call fax letter postcard campaign reminder broadcast"
    " newsletter voice whatsapp".split()
)
_RECIPIENTS: Final = frozenset("to cc bcc recipient phone mobile msisdn email number chat channel".split())
_CONTENTS: Final = frozenset("subject body text message html content template sms media attachment caption".split())


def people(reading: Reading) -> Finding | None:
    """Find what reaches people: a message that is sent, or recipients beside a content."""
    recipients = reading.sends(_RECIPIENTS)
    for act in reading.acts:
        if not act.is_denied and act.verbs & _REACHING and (_head(act.object) in _MESSAGES or recipients):
            return Finding(Effect.PEOPLE, Danger.DESTRUCTIVE, act.says, act.kind)
    contents = reading.sends(_CONTENTS)
    if recipients and contents and reading.category in (Category.CREATE, Category.EXECUTE):
        return Finding(Effect.PEOPLE, Danger.DESTRUCTIVE, f"it sends {recipients} and {contents}", "field")
    return None


def people_beside(reading: Reading) -> Finding | None:
    """Find what may reach people: a message among what it acts on, or a verb of sending."""
    words = ({*reading.thing, *reading.object} & _MESSAGES) | (reading.verb_words & _REACHING)
    return Finding(Effect.PEOPLE, Danger.REVERSIBLE, f"it speaks of {min(words)}") if words else None
