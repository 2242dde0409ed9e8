"""The rules of money: what pays, what makes or moves a thing that is money, and where the fields say so (R-EFF-1).

A thing is money by its noun (`payouts`), by the fields with which it is made (an amount, an account at a bank, a plan
with a price), or by the price that its answer adds, unless a GET shows it without any. What settles an item of what
moves money when it is made does so, too. Whatever its name, a thing is a record of money if a GET shows its sum, its
currency and its state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final

from aqlgen.decide.decision import Category, Danger, Effect
from aqlgen.decide.effects.outward import people
from aqlgen.decide.effects.reading import Finding, Reading, answer_fields, head
from aqlgen.decide.naming.verbs import READING, find_verb
from aqlgen.decide.schemas import Schemas
from aqlgen.decide.sentences import Act, Words
from aqlgen.ir import Json
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
_PREPARING: Final = READING.union(
    "draft quote evaluate simulate test template prepare cancel stop abort pause import sync report update edit patch"
    " remind impact".split()
)
"""Verbs that move nothing, or that avert it, and what they make; verbs of reading beside them."""
_AMOUNTS: Final = frozenset("amount amt price total quantity qty value sum balance".split())
_BILLS: Final = frozenset({"invoice", "bill"})
"""Things that others pay: another sum moves nothing yet."""
_SETTLING: Final = frozenset(
    "execute initiate submit send approve accept confirm complete authorize release capture reverse settle deposit"
    " distribute fund redeem void close sell activate withdraw".split()
)
"""Verbs that may move money or end a movement; on a thing that is money by its noun, every EXECUTE does."""
_MUCH: Final = 0.25
"""The share of paths that speak of money from which on an API is about money."""
_SUMS: Final = frozenset({"amount", "amt"})
_NO_SUMS: Final = frozenset("currency minimum maximum min max limit threshold spent".split())
_COSTS: Final = re.compile(r"(?<!not )\b(?:increases? the (?:price|cost)|incurs? (?:\w+ ){0,3}(?:cost|charge|fee))")
_PRICES: Final = frozenset("total amount price cost fee charge".split())
_PAID: Final = frozenset("currency beneficiary recipient payee counterparty".split())
_AT_BANK: Final = tuple(
    frozenset(words.split()) for words in ("iban", "routing number", "sort code", "direct deposit", "bank account")
)
_PAID_WITH: Final = frozenset({("payment",), ("payment", "method"), ("payment", "token"), ("credit", "card")})
"""Fields that say where money comes from or goes to."""
_TOKENS: Final = (("token",), ("nonce",))
"""Last words of a field that stands for one of these."""
_KEEPERS: Final = frozenset(
    "customer user employee person contact vendor supplier payee beneficiary recipient counterparty company"
    " merchant".split()
)
"""Things of which an account, or a means of payment, is only kept."""
_WORTH: Final = (_AMOUNTS | _PRICES | {"cent"}) - {"quantity", "qty"}
_STATES: Final = (("status",), ("state",))
_AVERTING: Final = _PREPARING - frozenset({"edit", "patch", "update"})
"""Verbs that move no record of money; a cancelled record ends."""
_VAGUE: Final = frozenset({"value", "balance"})
"""Fields that are a sum of money at the root of a request; below it they may be anything."""
_WHOLES: Final = frozenset({"object", "array"})
_PAIR, _DEEP = 4, 2
"""The most fields of an object that is only a sum with its currency, and how deep in an answer it is looked for."""
_KINDS: Final = frozenset({"plan", "type", "size", "tier"})
"""Things of which a request chooses one, and which may have a price."""


def moving(find: Callable[[Reading], Finding | None]) -> Callable[[Reading], Finding | None]:
    """Return the rule of a sign of money: what only records or defines a movement moves none."""

    def rule(reading: Reading) -> Finding | None:
        finding = find(reading)
        return None if finding is None or _is_aside(reading) or _is_kept(reading) else finding

    return rule


def _is_aside(reading: Reading) -> bool:
    """Return True for what only prepares, averts, reads or deletes a movement; a noun of money has the last word."""
    is_prepared = _is_prepared(reading) and reading.category is not Category.UPDATE and by_thing(reading) is None
    return _deletes(reading) or reading.noun in _PREPARING or is_prepared


def _is_prepared(reading: Reading) -> bool:
    return all(name[0] in _PREPARING for name in reading.names)


def _moved(says: str) -> Finding | None:
    return Finding(Effect.MONEY, Danger.DANGEROUS, says) if says else None


def _is_kept(reading: Reading) -> bool:
    """Return True if a create only records or drafts a movement: its text says so, and its result can be deleted."""
    return "DELETE" in _methods_of_item(reading) and any(
        "record" in act.verbs or "draft" in act.object[:2] for act in reading.acts
    )


def _methods_of_item(reading: Reading) -> set[str]:
    """Return the methods of the path of a new item; what deletes by another method counts as DELETE."""
    items = reading.around.of_template(f"{reading.template}/{{}}")
    return {"DELETE" if item.category is Category.DELETE else item.method for item in items}


def _deals(reading: Reading) -> frozenset[str]:
    """Return the heads of the object: an action's own (`submit-evidence`) before those of the item around."""
    words = reading.facts.shape.action[1:]
    return (frozenset({head(words)} - {""}) if words else None) or reading.heads


def _deletes(reading: Reading) -> bool:
    """Return True if the request itself says that it deletes: by its method or its path (`POST /orders/delete`)."""
    verb = reading.facts.action_verb
    return reading.facts.method == "DELETE" or (verb is not None and verb.category is Category.DELETE)


def by_thing(reading: Reading) -> Finding | None:
    """Find a create whose noun is a movement of money, whatever a name claims."""
    shape, noun = reading.facts.shape, reading.noun
    is_made = reading.facts.method == "POST" and not shape.item and not shape.action
    return _moved(f"it makes a {noun}") if is_made and noun in _MOVEMENTS else None


def by_account(reading: Reading) -> Finding | None:
    """Find the field that says where money comes from or goes to, unless such an account is only kept.

    Another bank account of an employee or a customer redirects what is paid; another card of theirs pays nothing.
    """
    if reading.sends(_SUMS) and not _is_means(reading):
        return _moved(_account(reading))
    is_keeper = reading.noun in _KEEPERS
    is_stored = _is_stored(reading) or (is_keeper and reading.category is not Category.UPDATE)
    is_kept = reading.category is Category.CREATE and "DELETE" in _methods_of_item(reading)
    means, banks = frozenset() if is_keeper else _PAID_WITH, () if is_kept else _AT_BANK
    return None if is_stored else _moved(_account(reading, means, banks))


def _is_means(reading: Reading) -> bool:
    """Return True for what acts on a means of payment, or on a part of one."""
    spoken = [singular(word) for words in (*reading.path_nouns[-2:], reading.object) for word in words]
    return not _PAID_WITH.isdisjoint(pairwise(spoken)) and not _deletes(reading)


def _is_stored(reading: Reading) -> bool:
    """Return True for an account or a means of payment itself: a request stores it, and pays nothing."""
    return reading.noun == "account" or reading.thing[-2:] in _PAID_WITH or _is_means(reading)


def _stored(reading: Reading) -> str:
    """Return the field by which a request stores an account or a means of payment, "" if it stores none."""
    return _account(reading) or ("it changes a means of payment" if _is_means(reading) else "")


def _account(
    reading: Reading, means: frozenset[Words] = _PAID_WITH, banks: tuple[frozenset[str], ...] = _AT_BANK
) -> str:
    """Return the field of an account or of a means of payment."""
    bare = (
        (name, name[:-1] if name[-1:] in _TOKENS else name) for name, depth in reading.fields.items() if 0 <= depth <= 1
    )
    fields = (name for name, paid in bare if paid in means or any(map(set(map(singular, name)).issuperset, banks)))
    numbers = (name for name, depth in reading.fields.items() if not depth and name[-2:] == ("account", "number"))
    has_bank = banks and any("bank" in name[-2:] for name, depth in reading.fields.items() if not depth)
    return next((f"its request has {'_'.join(name)}" for name in chain(fields, numbers if has_bank else ())), "")


def by_answer(reading: Reading) -> Finding | None:
    """Find the price that only the answer has, with its currency.

    The answer needs none if it is about what may be money. An update, or an act on an item, answers with the whole
    resource, whose price a GET shows.
    """
    schemas, sent = reading.around.schemas, {words[-1] for words in reading.fields if words}
    is_deal = reading.category is not Category.UPDATE and not _deals(reading).isdisjoint(_DOUBTFUL)
    fields = answer_fields(reading.subject.answer, schemas, depth=2 if is_deal else 0)
    added = {words[-1] for words in map(split, fields) if words} - sent
    prices = added & _PRICES if is_deal or "currency" in added else frozenset()
    if prices and not is_deal and "currency" in _shown(reading):
        return None
    return _moved(f"it answers with {min(prices)}") if prices else None


def _shown(reading: Reading) -> set[str]:
    """Return the last words of the fields that a GET of the path, or of the item around, shows."""
    gets = (other for other in reading.beside if other.facts.method == "GET")
    return {name.rpartition("_")[2] for each in gets for name in each.shown}


def by_sum(reading: Reading) -> Finding | None:
    """Find the sum that the request sends."""
    if reading.category is Category.UPDATE:
        return None
    top = [name for name, depth in reading.fields.items() if not depth and name]
    spoken = _MOVEMENTS | _DOUBTFUL | {"total"}
    sums = (name for name in top if name[0] in _SUMS or (name[-1] in _SUMS and spoken & set(map(singular, name))))
    paid = (name for name in sums if _NO_SUMS.isdisjoint(name) and (name[0] not in _SUMS or not _defines(reading)))
    return _moved(next((f"its request has {'_'.join(name)}" for name in paid), ""))


def _defines(reading: Reading) -> bool:
    """Return True if a sum is of no money, or of a definition that can be changed and deleted, such as a rate."""
    return {*reading.path_things, *reading.heads}.isdisjoint(_MOVEMENTS | _DOUBTFUL) and (
        {"DELETE"} < _methods_of_item(reading) & {"PUT", "PATCH", "DELETE"}
        or not (reading.sends(_PAID) or _is_about_money(reading))
    )


def by_choice(reading: Reading) -> Finding | None:
    """Find the plan of a subscription, or the chosen plan, size or type that has a price."""
    top = [name for name, depth in reading.fields.items() if depth <= 0 and _KINDS & {*name}]
    plan = next((name for name in top if not {"plan", "tier"}.isdisjoint(name)), ())
    if plan and reading.noun == "subscription":
        return _moved(f"its request has {'_'.join(plan)}")
    if not top or (reading.category is Category.UPDATE and not reading.facts.shape.action):
        return None
    priced = reading.around.once("priced", lambda: _priced(reading))
    kind = next((name for name in top if tuple(map(singular, name)) in priced), ())
    return _moved(f"its request has a {' '.join(kind)} with a price") if kind else None


def _priced(reading: Reading) -> frozenset[Words]:
    """Return the kinds, plans and sizes whose GET shows a price."""
    schemas = reading.around.schemas
    return frozenset(
        other.thing
        for other in reading.others.values()
        if other.facts.method == "GET" and other.noun in _KINDS
        for name in answer_fields(other.subject.answer, schemas, depth=2)
        if other.thing != ("type",) and not {"price", "cost"}.isdisjoint(map(singular, split(name)))
    )


def cost(reading: Reading) -> Finding | None:
    """Find an account that is kept, a sum that is set (reading the old one pays nothing back), a plan, or a price."""
    if account := _stored(reading):
        return Finding(Effect.MONEY, Danger.REVERSIBLE, account, "field")
    sums = (name for name, depth in reading.fields.items() if not depth and name and name[-1] in _SUMS)
    changed = next(sums, ())
    if changed and (reading.sends(_PAID) or _is_about_money(reading)):
        return Finding(Effect.MONEY, Danger.REVERSIBLE, f"it sets the {' '.join(changed)}", "field")
    if "plan" in reading.path_things[1:] and "plans/{" not in reading.template.lower() and not _deletes(reading):
        return Finding(Effect.MONEY, Danger.REVERSIBLE, "it changes a plan")
    says = _COSTS.search(reading.facts.operation.description)
    return Finding(Effect.MONEY, Danger.REVERSIBLE, f"“{says[0]}”", "sentence") if says else None


def of_item(reading: Reading) -> Finding | None:
    """Find an act on things that move money when created: it carries one out, or changes its sum."""
    if _deletes(reading) or _is_kept(reading):
        return None
    collection, part = _collection(reading)
    verbs = reading.verb_words | set(reading.path_things[-1:])  # `POST /payments/{id}/captures`
    is_settled = _settles(verbs, reading)
    sums = _AMOUNTS | {"status"} if reading.noun in _MOVEMENTS else _AMOUNTS
    is_changed = reading.category is Category.UPDATE and not part and reading.noun not in _BILLS
    makers = reading.around.once("makers of money", lambda: _makers(reading))
    is_changed = is_changed and bool(reading.sends(sums))
    maker = makers.get(collection, "") if is_settled or is_changed else ""
    is_below = not _MOVEMENTS.isdisjoint(reading.path_things) and reading.category is Category.EXECUTE
    is_sure = is_settled and is_below and not verbs.isdisjoint(_SETTLING)
    says = f"{maker} moves money" if maker else f"it settles a {reading.noun}"
    return _moved(says) if maker or is_sure else None


def _collection(reading: Reading) -> tuple[str, str]:
    """Return the collection that an item is of, or an action is on, and the path behind the item."""
    collection, is_item, part = reading.template.rpartition("/{}")
    around = reading.template.rpartition("/")[0] if reading.facts.shape.action else ""
    return (collection.removesuffix("/{}") if is_item else around), part


def _settles(verbs: frozenset[str], reading: Reading) -> bool:
    """Return True for verbs that move what may be money; what is sent to people is a message about it."""
    is_deal = reading.noun in (_MOVEMENTS | _DOUBTFUL) & _deals(reading)
    known = [find_verb(verb) for verb in verbs - _PREPARING] if is_deal else []
    is_executed = known != [] and any(verb is not None and verb.category is Category.EXECUTE for verb in known)
    settling = verbs & _SETTLING
    return bool(settling - {"send"}) or (bool(settling or is_executed) and people(reading) is None)


def _makers(reading: Reading) -> dict[str, str]:
    """Return the names of the operations that move money when they make something, by path."""
    posts = (each for each in reading.others.values() if each.facts.method == "POST" and not each.facts.shape.item)
    finds = (*SIGNS.values(), _made)
    return {each.template: each.name for each in posts if not _is_aside(each) and any(find(each) for find in finds)}


def of_record(reading: Reading) -> Finding | None:
    """Find a write that makes, settles or prices a record of money, whose sum, currency and state a GET shows."""
    records = _records(reading)
    known = [records.get(noun, False) for noun in reading.path_nouns] if records else []
    if not any(known) or _averts(reading):
        return None
    is_sum = any(_is_sum(name) and (depth <= 0 or name[-1] not in _VAGUE) for name, depth in reading.fields.items())
    is_done = is_sum or known[-1]
    if reading.category is Category.UPDATE:
        is_done = is_sum or (known[-1] and bool(reading.sends(frozenset(*zip(*_STATES, strict=True)))))
    elif reading.category is Category.CREATE:
        is_done = is_sum and "DELETE" not in _methods_of_item(reading)
    return _moved("a GET shows its sum, currency and state") if is_done else None


def _averts(reading: Reading) -> bool:
    """Return True for a write that moves no record of money: it deletes or prepares one, or tells people of it."""
    return _deletes(reading) or not reading.verb_words.isdisjoint(_AVERTING) or people(reading) is not None


def _records(reading: Reading) -> Mapping[Words, bool]:
    """Return the nouns of which a GET shows a sum with its currency, and whether it shows a state beside them."""

    def records() -> dict[Words, bool]:
        shown: dict[Words, bool] = {}
        for each in reading.others.values():
            nouns = each.path_nouns if each.facts.method == "GET" and not each.facts.shape.action else ()
            for has_state in _sums(each.subject.answer, each.around.schemas) if nouns else ():
                shown[nouns[-1]] = has_state or shown.get(nouns[-1], False)
        return shown

    return reading.around.once("records of money", records)


def _sums(schema: Json, schemas: Schemas, depth: int = _DEEP) -> tuple[bool, ...]:
    """Return of each object of an answer that has a sum with its currency whether it has a state, too."""

    def sums() -> Iterator[bool]:
        if depth == _DEEP and not any("currency" in name.lower() for name in answer_fields(schema, schemas, depth)):
            return
        items = schemas.items(schema)
        fields = schemas.properties(schema if items is None else items)
        inner = [schemas.properties(field) for field in fields.values()]
        is_priced = _has_sum(fields, schemas) and any(map(_has_currency, (fields, *inner)))
        pairs = (each for each in inner if len(each) <= _PAIR and _has_currency(each))
        if is_priced or any(_has_sum(each, schemas) for each in pairs):
            yield bool(depth) and any(split(name)[-1:] in _STATES for name in fields)
        for field in fields.values() if depth else ():
            yield from _sums(field, schemas, depth - 1)

    return schemas.once(f"sums-{depth}", schema, lambda: tuple(sums()))


def _has_sum(fields: Mapping[str, Json], schemas: Schemas) -> bool:
    return any(_is_sum(split(name)) and schemas.kinds(field).isdisjoint(_WHOLES) for name, field in fields.items())


def _is_sum(name: Words) -> bool:
    return bool(name) and singular(name[-1]) in _WORTH


def _has_currency(fields: Mapping[str, Json]) -> bool:
    return any(name[-1:] == ("currency",) or name[-2:] == ("currency", "code") for name in map(split, fields))


def by_act(reading: Reading) -> Finding | None:
    """Find an act that pays, or that moves what is money."""
    if _is_prepared(reading):
        return None
    if verbs := reading.said_verbs & _PAYING:
        return Finding(Effect.MONEY, Danger.DANGEROUS, f"the document calls it {min(verbs)}", "sentence")
    return _acted(reading, _is_payment)


def by_making(reading: Reading) -> Finding | None:
    """Find an act that makes or settles what may be money, unless its thing has no state and can be deleted."""
    finding = _made(reading)
    if finding is None or reading.category is not Category.CREATE:
        return finding
    same = [each for each in reading.others.values() if each.thing == reading.thing]
    is_deletable = any(each.facts.method == "DELETE" and each.facts.shape.item for each in same)
    return None if is_deletable and not any(map(_shows_state, same)) else finding


def _shows_state(reading: Reading) -> bool:
    names = answer_fields(reading.subject.answer, reading.around.schemas, depth=2)
    return reading.facts.method == "GET" and any(split(name)[-1:] in _STATES for name in names)


def _made(reading: Reading) -> Finding | None:
    return None if _is_prepared(reading) else _acted(reading, _is_deal)


def _acted(reading: Reading, tells: Callable[[Act, Reading], bool]) -> Finding | None:
    for act in reading.acts:
        if not act.is_denied and act.verbs.isdisjoint(_PREPARING) and tells(act, reading):
            return Finding(Effect.MONEY, Danger.DANGEROUS, act.says, act.kind)
    return None


def _is_payment(act: Act, reading: Reading) -> bool:
    """Return True for an act that pays, or whose object is money."""
    is_moved = head(act.object) in _MOVEMENTS and _is_verb(act, reading)
    is_moved = is_moved and (bool(reading.sends(_AMOUNTS)) or not reading.fields)
    return is_moved or not act.verbs.isdisjoint(_PAYING)


def _is_deal(act: Act, reading: Reading) -> bool:
    """Return True for an act whose object may be money, and is made or settled."""
    is_made = (reading.category is Category.CREATE and _is_verb(act, reading)) or "create" in act.verbs
    is_of_money = bool(reading.sends(_AMOUNTS)) or (_is_about_money(reading) and not _is_priceless(reading))
    return head(act.object) in _DOUBTFUL and (is_made or _settles(act.verbs, reading)) and is_of_money


def _is_verb(act: Act, reading: Reading) -> bool:
    return any(map(find_verb, act.verbs)) or reading.facts.operation.summary.lower().startswith((*act.verbs,))


def _is_about_money(reading: Reading) -> bool:
    """Return True if a doubtful word is one of money: much of the path, or of the API, speaks of money."""
    if len((_MOVEMENTS | _DOUBTFUL).intersection(reading.path_things)) > 1 or _has_record(reading):
        return True
    around = reading.around
    speaking = around.once("paths of money", lambda: sum(_speaks(each.operation.path) for each in around.subjects))
    return speaking >= _MUCH * max(len(around.subjects), 1)


def _has_record(reading: Reading) -> bool:
    return not _records(reading).keys().isdisjoint(reading.path_nouns)


def _is_priceless(reading: Reading) -> bool:
    """Return True if a GET shows several fields of the thing, and none that is a sum or a price."""
    if _has_record(reading):
        return False
    gets = [each for each in reading.others.values() if each.thing == reading.thing and each.facts.method == "GET"]
    names = (
        split(name) for each in gets for name in answer_fields(each.subject.answer, reading.around.schemas, depth=2)
    )
    words = reading.around.once(f"shown of {reading.thing}", lambda: {singular(name[-1]) for name in names if name})
    return len(words) > 4 and (_AMOUNTS | _PRICES | {"currency", "account", "iban", "card"}).isdisjoint(words)


@lru_cache(maxsize=16384)
def _speaks(path: str) -> bool:
    """Return True if a path speaks of money."""
    return not (_MOVEMENTS | _DOUBTFUL).isdisjoint(map(singular, split(path)))


def beside(reading: Reading) -> Finding | None:
    """Find a possible movement of money by a word in the names; in an API that is about money, a sure one."""
    words = _deals(reading) & _DOUBTFUL | {*reading.thing, *reading.object} & _MOVEMENTS
    if not words or reading.category is Category.UPDATE or _deletes(reading):
        return None
    is_prepared = reading.noun in _PREPARING or all(not _PREPARING.isdisjoint(name) for name in reading.names)
    is_thing = bool(words & reading.heads) and reading.verb_words.isdisjoint(_PREPARING)
    is_executed = reading.category is Category.EXECUTE and not reading.heads.isdisjoint(_MOVEMENTS)
    is_money = is_thing and (is_executed or _is_about_money(reading))
    is_sure = is_money and not (is_prepared or _is_kept(reading) or _is_priceless(reading) or people(reading))
    says = f"it mentions {min(words)}"
    return Finding(Effect.MONEY, Danger.DESTRUCTIVE if is_sure else Danger.REVERSIBLE, says, "sentence")


SIGNS: Final = {
    "money-thing": by_thing,
    "money-account": by_account,
    "money-answer": by_answer,
    "money-sum": by_sum,
    "money-choice": by_choice,
    "money-act": by_act,
    "money-made": by_making,
}
"""The signs that an operation moves money; they also tell which things move money when created."""
