"""The rules of money: what pays, what makes or moves a thing that is money, and where the fields say so (R-EFF-1).

A thing is money by its noun (`payouts`), or by the fields with which it is made: an amount with a party or a currency,
a side and a quantity, an account at a bank. What is done to an item of what moves money when it is made does so, too.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from aqlgen.decide.decision import Category, Danger, Effect
from aqlgen.decide.effects.reading import Finding, Reading, head
from aqlgen.decide.sentences import quoted, sentences
from aqlgen.words import singular, split

__all__ = ["money", "money_beside"]

_PAYING: Final = frozenset(
    "pay payout refund withdraw disburse reimburse repay remit purchase buy donate debit".split()
)
"""Verbs that move money whatever they act on."""
_MOVEMENTS: Final = frozenset(
    "payment payout refund withdrawal disbursement chargeback donation remittance reimbursement money fund funding cash"
    " debit directdebit".split()
)
"""Things that are money or its movement."""
_DOUBTFUL: Final = frozenset(
    "transfer deposit charge order transaction credit trade invoice dispute balance bid capture reversal loan"
    " settlement topup wallet exchange conversion subscription coin saving billing salary payroll mandate".split()
)
"""Things that are if the request says so: by an amount, or by what it is paid with or to."""
_PREPARING: Final = frozenset(
    "draft preview estimate quote calculate evaluate simulate validate check search list verify test template prepare"
    " get export cancel stop abort pause download import sync report update edit patch remind impact".split()
)
"""Verbs that move nothing, or that avert it, and what they make."""
_AMOUNTS: Final = frozenset("amount amt price total quantity qty value sum balance".split())
_PARTIES: Final = frozenset(
    "recipient beneficiary payee receiver destination iban payer card source wallet currency asset symbol"
    " creditor debtor ach bank payment deposit payout".split()
)
_ANYBODY: Final = frozenset("source destination asset symbol card recipient receiver".split())
"""Parties that are as often none of money."""
_BOUGHT: Final = frozenset("transfer deposit order purchase trade bid topup".split())
"""Those that are if an amount is sent."""
_SETTLING: Final = frozenset(
    "execute initiate submit send approve accept confirm complete authorize release capture reverse settle deposit"
    " transfer distribute fund redeem void close sell activate".split()
)
"""Verbs that move what may be money."""
_BILLING: Final = frozenset("charge bill debit deduct".split())
_MUCH: Final = 0.25
"""The share of paths that speak of money from which on an API is about money."""
_ENDING: Final = frozenset("cancel withdraw void reverse".split())
"""Verbs that end a movement of money."""
_SUMS: Final = frozenset({"amount", "amt"})
_ENDS: Final = frozenset("currency payee beneficiary payer creditor debtor wallet recipient".split())
"""Fields that make a sum a movement of money."""
_AT_BANK: Final = tuple(
    frozenset(words.split()) for words in ("iban", "routing number", "sort code", "direct deposit", "bank account")
)
_PAID_WITH: Final = frozenset({("payment",), ("payment", "method"), ("credit", "card")})
"""Fields that say where money comes from or goes to."""
_TRADED: Final = frozenset("quantity qty size volume".split())
_CONSENT: Final = frozenset("accept agree".split())
_COSTS: Final = frozenset("fee charge cost price".split())
_COST: Final = re.compile(r"\bthere (?:is|are|will be) an? (?:\w+ )?(?:charge|fee|cost)s?\b")


def money(reading: Reading) -> Finding | None:
    """Find what moves money, by its thing, its fields, what it is done to, or the acts of its names and texts."""
    return _made(reading) or _of_item(reading)


def _made(reading: Reading) -> Finding | None:
    """Find what moves money by what is said of it alone."""
    if reading.facts.method == "DELETE":
        return None
    if head(reading.thing) in _PREPARING:
        return None
    is_prepared = all(name[0] in _PREPARING for name in reading.names)
    says = "" if is_prepared and reading.category is not Category.UPDATE else _by_bank(reading)
    if not says and not is_prepared:
        says = _by_thing(reading) or _by_fields(reading)
        if not says:
            return _by_act(reading)
    return Finding(Effect.MONEY, Danger.DANGEROUS, says) if says else None


def _by_thing(reading: Reading) -> str:
    shape, noun = reading.facts.shape, head(reading.thing)
    is_made = reading.facts.method == "POST" and not shape.item and not shape.action
    return f"it makes a {noun}" if is_made and noun in _MOVEMENTS else ""


def _by_bank(reading: Reading) -> str:
    """Return what says where money comes from or goes to."""
    fields = (name for name, depth in reading.fields.items() if depth <= 1)
    found = next(
        (name for name in fields if name in _PAID_WITH or any(words <= set(map(singular, name)) for words in _AT_BANK)),
        (),
    )
    return f"it sends {'_'.join(found)}" if found else ""


def _by_fields(reading: Reading) -> str:
    """Return what the request says of a sum and a party, of a trade, or of a cost that the caller accepts."""
    top = [name for name, depth in reading.fields.items() if not depth and name]
    if reading.category is Category.UPDATE:
        return ""
    accepted = next((name for name in top if name[0] in _CONSENT and _COSTS & set(map(singular, name))), ())
    if accepted:
        return f"it sends {'_'.join(accepted)}"
    plain = _MOVEMENTS | _DOUBTFUL | {"total"}
    last = {name[-1] for name in top if name[-1] not in _SUMS or set(map(singular, name[:-1])) <= plain}
    last |= {name[0] for name in top if name[0] in _SUMS}
    for sums, parties in ((_SUMS, _ENDS), (_TRADED, frozenset({"side"}))):
        if last & sums and last & parties:
            return f"it sends {min(last & sums)} and {min(last & parties)}"
    return f"it sends {min(last & _SUMS)}" if last & _SUMS and _is_about_money(reading) else ""


def _of_item(reading: Reading) -> Finding | None:
    """Find what ends, changes or carries out something that moves money when it is made, or that holds such things."""
    collection, _, part = reading.template.rpartition("/{}")
    made = reading.around.once("made of money", lambda: _makers(reading))
    if not collection or (part and not reading.facts.shape.action):
        return None
    verbs = reading.verb_words
    changes = reading.category is Category.UPDATE and bool(reading.sends(_AMOUNTS))
    if collection in made and (verbs & (_ENDING | _SETTLING) or changes):
        return Finding(Effect.MONEY, Danger.DANGEROUS, f"{made[collection]} moves money")
    within = next((name for path, name in made.items() if path.startswith(f"{collection}/{{}}/")), "")
    if within and reading.category is Category.EXECUTE and verbs & _SETTLING:
        return Finding(Effect.MONEY, Danger.DANGEROUS, f"{within} moves money")
    return None


def _makers(reading: Reading) -> dict[str, str]:
    """Return the names of the operations that move money when they make something, by path."""
    return {
        other.template: other.name
        for other in reading.others.values()
        if other.facts.method == "POST" and not other.facts.shape.item and _made(other) is not None
    }


def _by_act(reading: Reading) -> Finding | None:
    """Find an act that pays, that moves what is money, or that says what it costs."""
    amounts, parties = reading.sends(_AMOUNTS), reading.sends(_PARTIES)
    makes = reading.category is Category.CREATE
    for act in reading.acts:
        if act.is_denied or not act.verbs.isdisjoint(_PREPARING):
            continue
        noun = head(act.object)
        moves = noun in _MOVEMENTS and bool(amounts or not reading.fields or (act.kind == "structure" and not makes))
        is_settled = makes or not act.verbs.isdisjoint(_SETTLING)
        may_move = noun in _DOUBTFUL and bool((amounts and parties) or (is_settled and _is_about_money(reading)))
        is_bought = noun in _BOUGHT and is_settled and bool(amounts)
        is_billed = act.kind == "sentence" and len(act.verbs) > 1 and not act.verbs.isdisjoint(_BILLING)
        is_moved = act.kind == "structure" and "transfer" in act.verbs and _is_about_money(reading, besides=1)
        if act.verbs & _PAYING or moves or may_move or is_bought or is_billed or is_moved:
            return Finding(Effect.MONEY, Danger.DANGEROUS, act.says, act.kind)
    cost = next((text for text in sentences(reading.facts.operation) if _COST.search(text.lower())), "")
    return Finding(Effect.MONEY, Danger.DANGEROUS, f"“{quoted(cost)}”", "sentence") if cost else None


def _is_about_money(reading: Reading, *, besides: int = 0) -> bool:
    """Return True if much of the API, or of what is `besides` it, acts on money: a doubtful word is one of money."""
    around = reading.around
    speaking = around.once("paths of money", lambda: sum(_speaks(each.operation.path) for each in around.subjects))
    return speaking - besides >= _MUCH * max(len(around.subjects), 1)


@lru_cache(maxsize=16384)
def _speaks(path: str) -> bool:
    """Return True if a path speaks of money."""
    return not (_MOVEMENTS | _DOUBTFUL).isdisjoint(map(singular, split(path)))


def money_beside(reading: Reading) -> Finding | None:
    """Find what may move money: a word of money in its names, or an amount that it sends to somebody."""
    heads = {head(reading.thing), head(reading.object)}
    words = heads & (_MOVEMENTS | _DOUBTFUL)
    if words and reading.category is not Category.UPDATE:
        return Finding(Effect.MONEY, Danger.REVERSIBLE, f"it speaks of {min(words)}")
    parties = reading.sends(_PARTIES - _ANYBODY)
    return Finding(Effect.MONEY, Danger.REVERSIBLE, f"it sends {parties}", "field") if parties else None
