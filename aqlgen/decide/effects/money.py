"""The rules of money: what pays, what makes or moves a thing that is money, and where the fields say so (R-EFF-1).

A thing is money by its noun (`payouts`), by the fields with which it is made (an amount, an account at a bank, a plan
with a price), by the price that its answer adds, or by a 402 that few others answer. What settles or ends an item of
what moves money when it is made does so, too.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, pairwise
from typing import Final

from aqlgen.decide.decision import Category, Danger, Effect
from aqlgen.decide.effects.outward import people
from aqlgen.decide.effects.reading import Finding, Reading, answer_fields, head
from aqlgen.decide.sentences import Act, Words, costing
from aqlgen.ir import Operation
from aqlgen.words import singular, split

_PAYING: Final = frozenset(
    "pay payout refund withdraw disburse reimburse repay remit purchase buy donate billed".split()
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
    "draft preview estimate quote calculate evaluate simulate validate check search list test template prepare"
    " get export cancel stop abort pause download import sync report update edit patch remind impact".split()
)
"""Verbs that move nothing, or that avert it, and what they make."""
_AMOUNTS: Final = frozenset("amount amt price total quantity qty value sum balance".split())
_SETTLING: Final = frozenset(
    "execute initiate submit send approve accept confirm complete authorize release capture reverse settle deposit"
    " transfer distribute fund redeem void close sell activate cancel withdraw".split()
)
"""Verbs that move what may be money, or end its movement."""
_MUCH: Final = 0.25
"""The share of paths that speak of money from which on an API is about money."""
_SUMS: Final = frozenset({"amount", "amt"})
_PRICES: Final = frozenset("total amount price cost fee charge".split())
_AT_BANK: Final = tuple(
    frozenset(words.split()) for words in ("iban", "routing number", "sort code", "direct deposit", "bank account")
)
_PAID_WITH: Final = frozenset({("payment",), ("payment", "method"), ("credit", "card")})
"""Fields that say where money comes from or goes to."""
_FEW: Final = 0.1
"""The share of writes below which a declared 402 is said of one operation, and not of the API's limits."""
_KINDS: Final = frozenset({"plan", "type", "size", "tier"})
"""Things of which a request chooses one, and which may have a price."""
_HOLDERS: Final = frozenset("account customer organization organisation user team workspace".split())
"""Who pays for the plan that they have."""
_CONSENT: Final = frozenset("accept agree expected".split())


def money(reading: Reading) -> Finding | None:
    """Find what moves money, by its thing, its fields, what it is done to, or the acts of its names and texts."""
    finding = _moves(reading) or _of_item(reading)
    if finding is None and (says := costing(reading.facts.operation)):
        return Finding(Effect.MONEY, Danger.DANGEROUS, f"“{says}”", "sentence")
    return finding


def _moves(reading: Reading) -> Finding | None:
    """Find what moves money by what the operation itself says."""
    if _deletes(reading):
        is_ended = reading.noun in _MOVEMENTS
        return Finding(Effect.MONEY, Danger.DESTRUCTIVE, f"it ends a {reading.noun}") if is_ended else None
    is_prepared = all(name[0] in _PREPARING for name in reading.names)
    says = _by_thing(reading)  # whatever a name claims
    if not says and (reading.noun in _PREPARING or (is_prepared and reading.category is not Category.UPDATE)):
        return None
    says = says or _by_account(reading) or _by_answer(reading) or ("" if is_prepared else _by_fields(reading))
    if says := says or _by_status(reading) or _by_choice(reading):
        return Finding(Effect.MONEY, Danger.DANGEROUS, says)
    return None if is_prepared else _by_act(reading)


def _deletes(reading: Reading) -> bool:
    """Return True if the request itself says that it deletes: by its method or its path (`POST /orders/delete`)."""
    verb = reading.facts.action_verb
    return reading.facts.method == "DELETE" or (verb is not None and verb.category is Category.DELETE)


def _by_thing(reading: Reading) -> str:
    shape, noun = reading.facts.shape, reading.noun
    if _is_plan_of_account(reading):
        return "it changes the plan of an account"
    is_made = reading.facts.method == "POST" and not shape.item and not shape.action
    return f"it makes a {noun}" if is_made and noun in _MOVEMENTS else ""


def _by_account(reading: Reading) -> str:
    """Return the field that says where money comes from or goes to."""
    near = (name for name, depth in reading.fields.items() if depth <= 1)
    fields = (name for name in near if name in _PAID_WITH or any(map(set(map(singular, name)).issuperset, _AT_BANK)))
    return next((f"its request has {'_'.join(name)}" for name in fields), "")


def _by_answer(reading: Reading) -> str:
    """Return the price that an answer, or the item that is made, adds to what was sent, with its currency.

    The answer needs none if it is about what may be money. An update answers with the whole resource.
    """
    schemas, sent = reading.around.schemas, {words[-1] for words in reading.fields if words}
    is_deal = reading.category is not Category.UPDATE and not reading.heads.isdisjoint({*_DOUBTFUL, "license"})
    fields = answer_fields(reading.subject.answer, schemas, depth=2 if is_deal else 0)
    added = {words[-1] for words in map(split, fields) if words} - sent
    prices = added & _PRICES
    if prices and (is_deal or "currency" in added):
        return f"it answers with {min(prices)}"
    items = reading.around.of_template(f"{reading.template}/{{}}") if reading.category is Category.CREATE else ()
    for name, inner in chain.from_iterable(schemas.properties(item.answer).items() for item in items):
        if not (_PRICES - sent).isdisjoint(split(name)[-1:]) and "currency" in schemas.properties(inner):
            return f"the {name} of what it makes is a price"
    return ""


def _by_fields(reading: Reading) -> str:
    """Return the sum that the request sends, or the cost that the caller accepts."""
    if reading.category is Category.UPDATE:
        return ""
    top = [name for name, depth in reading.fields.items() if not depth and name]
    if consent := next(filter(_is_consent, top), ()):
        return f"its request has {'_'.join(consent)}"
    spoken = _MOVEMENTS | _DOUBTFUL | {"total"}
    sums = (name for name in top if name[0] in _SUMS or (name[-1] in _SUMS and spoken & set(map(singular, name))))
    return next((f"its request has {'_'.join(name)}" for name in sums), "")


def _by_status(reading: Reading) -> str:
    """Return the status 402 where few writes declare it; a message that it may stop moves no money."""
    once, operation = reading.around.once, reading.facts.operation
    if not _asks_for_payment(operation) or people(reading) is not None:
        return ""
    writes = [other.operation for other in reading.around.subjects if other.method != "GET"]
    asking = once("asking for payment", lambda: sum(map(_asks_for_payment, writes)))
    return "it may answer 402, which few operations do" if asking < _FEW * len(writes) else ""


def _asks_for_payment(operation: Operation) -> bool:
    return any(response.status == "402" for response in operation.responses)


def _by_choice(reading: Reading) -> str:
    """Return the plan of a subscription, or the chosen plan, size or type that has a price."""
    top = [name for name, depth in reading.fields.items() if depth <= 0 and _KINDS & {*name}]
    plan = next((name for name in top if not {"plan", "tier"}.isdisjoint(name)), ())
    if plan and reading.noun == "subscription":
        return f"its request has {'_'.join(plan)}"
    if not top or (reading.category is Category.UPDATE and not reading.facts.shape.action):
        return ""
    priced = reading.around.once("priced", lambda: _priced(reading))
    kind = next((name for name in top if tuple(map(singular, name)) in priced), ())
    return f"its request has a {' '.join(kind)} with a price" if kind else ""


def _is_plan_of_account(reading: Reading) -> bool:
    """Return True for the plan of one account, or a part of it: `/accounts/{id}/plans/base`."""
    return any(
        holder.parameters and singular(holder.words[-1]) in _HOLDERS and singular(thing.words[-1]) == "plan"
        for holder, thing in pairwise(reading.facts.shape.nouns)
    )


def _priced(reading: Reading) -> frozenset[Words]:
    """Return the kinds, plans and sizes whose GET shows a price."""
    schemas = reading.around.schemas
    return frozenset(
        other.thing
        for other in reading.others.values()
        if other.facts.method == "GET" and other.noun in _KINDS
        for name in answer_fields(other.subject.answer, schemas, depth=2)
        if not {"price", "cost"}.isdisjoint(map(singular, split(name)))
    )


def _is_consent(name: Words) -> bool:
    """Return True for a field by which the caller accepts a cost: `accept_charges`."""
    return name[0] in _CONSENT and not _PRICES.isdisjoint(map(singular, name))


def _of_item(reading: Reading) -> Finding | None:
    """Find what ends or carries out something that moves money when it is made, or changes the sum of a movement."""
    collection, part = _collection(reading)
    verbs = reading.verb_words | set(reading.path_things[-1:])  # `POST /payments/{id}/cancels`
    is_settled = _settles(verbs, reading)
    is_movement = reading.category is Category.UPDATE and reading.noun in _MOVEMENTS and not part
    is_changed = is_movement and reading.sends(_AMOUNTS | {"status"})
    if not collection or not (is_settled or is_changed):
        return None
    makers = reading.around.once("makers of money", lambda: _makers(reading))
    maker = makers.get(collection, "")
    if not maker and not part and reading.category is Category.EXECUTE and is_settled:
        maker = next((name for path, name in makers.items() if path.startswith(f"{collection}/{{}}/")), "")
    return Finding(Effect.MONEY, Danger.DANGEROUS, f"{maker} moves money") if maker else None


def _collection(reading: Reading) -> tuple[str, str]:
    """Return the collection that an item is of, or an action is on, and the path behind the item."""
    collection, is_item, part = reading.template.rpartition("/{}")
    around = reading.template.rpartition("/")[0] if reading.facts.shape.action else ""
    return (collection.removesuffix("/{}") if is_item else around), part


def _settles(verbs: frozenset[str], reading: Reading) -> bool:
    """Return True for verbs that move what may be money; what is sent to people is a message about it."""
    settling = verbs & _SETTLING
    return bool(settling) and (settling != {"send"} or people(reading) is None)


def _makers(reading: Reading) -> dict[str, str]:
    """Return the names of the operations that move money when they make something, by path."""
    return {
        other.template: other.name
        for other in reading.others.values()
        if other.facts.method == "POST" and not other.facts.shape.item and _moves(other) is not None
    }


def _by_act(reading: Reading) -> Finding | None:
    """Find an act that pays, or that moves what is money."""
    has_amount = bool(reading.sends(_AMOUNTS))
    if verbs := reading.said_verbs & _PAYING:
        return Finding(Effect.MONEY, Danger.DANGEROUS, f"the document calls it {min(verbs)}", "sentence")
    for act in reading.acts:
        if not act.is_denied and act.verbs.isdisjoint(_PREPARING) and _is_payment(act, reading, has_amount=has_amount):
            return Finding(Effect.MONEY, Danger.DANGEROUS, act.says, act.kind)
    return None


def _is_payment(act: Act, reading: Reading, *, has_amount: bool) -> bool:
    """Return True for an act that pays, whose object is money, or may be and is made or settled."""
    noun = head(act.object)
    if not act.verbs.isdisjoint(_PAYING) or (noun in _MOVEMENTS and (has_amount or not reading.fields)):
        return True
    is_moved = reading.category is Category.CREATE or "create" in act.verbs or _settles(act.verbs, reading)
    return noun in _DOUBTFUL and is_moved and (has_amount or _is_about_money(reading))


def _is_about_money(reading: Reading) -> bool:
    """Return True if a doubtful word is one of money: much of the path, or of the API, speaks of money."""
    if len((_MOVEMENTS | _DOUBTFUL).intersection(reading.path_things)) > 1:
        return True
    around = reading.around
    speaking = around.once("paths of money", lambda: sum(_speaks(each.operation.path) for each in around.subjects))
    return speaking >= _MUCH * max(len(around.subjects), 1)


@lru_cache(maxsize=16384)
def _speaks(path: str) -> bool:
    """Return True if a path speaks of money."""
    return not (_MOVEMENTS | _DOUBTFUL).isdisjoint(map(singular, split(path)))


def money_beside(reading: Reading) -> Finding | None:
    """Find what may move money by a word of money in its names; in an API that is about money, it does."""
    words = reading.heads & _DOUBTFUL | {*reading.thing, *reading.object} & _MOVEMENTS
    if not words or reading.category is Category.UPDATE or _deletes(reading):
        return None
    is_prepared = reading.noun in _PREPARING or all(not _PREPARING.isdisjoint(name) for name in reading.names)
    is_thing = bool(words & reading.heads) and reading.verb_words.isdisjoint(_PREPARING)
    is_sure = is_thing and not is_prepared and _is_about_money(reading)
    level = Danger.DESTRUCTIVE if is_sure else Danger.REVERSIBLE
    return Finding(Effect.MONEY, level, f"it mentions {min(words)}", "sentence")
