"""Operations that move money: they pay, refund, charge, transfer, or give up a claim to it.

Verbs that always do, verbs that do with a noun of money, and things whose making moves money. A word that may mean
something else (`transfer` a repository, `capture` packets) needs money elsewhere: another noun, or an amount with its
currency in the request. What only prepares, describes or computes moves nothing.
"""

from __future__ import annotations

from typing import Final

from aqlgen.decide.danger.change import Change
from aqlgen.decide.decision import Category
from aqlgen.words import singular

__all__ = ["moves_money"]

_PAYING: Final = frozenset(
    "pay payout disburse withdraw reimburse remit repay refund chargeback debit purchase buy prepay overpay".split()
)
"""Verbs that move money whatever they act on."""
_WITH_MONEY: Final = frozenset(
    "transfer capture void close accept approve release finalize collect redeem confirm reverse return execute process"
    " authorize settle deposit charge complete submit send initiate credit fund order place top_up topup accelerate"
    " advance cash donate tip sweep convert exchange issue reauthorize adjust mark finish fulfill retry trade".split()
)
"""Verbs that move money if their object is money."""
_MOVEMENTS: Final = frozenset(
    "payment payout refund charge withdrawal disbursement chargeback repayment remittance reimbursement donation"
    " topup cashout prepayment".split()
)
"""Things that are a movement of money: who makes them, moves it."""
_DOUBTFUL: Final = frozenset(
    "transfer deposit reversal return capture settlement sweep transaction purchase order credit wire trade"
    " withdrawal exchange conversion top_up void debit sale intent adjustment".split()
)
"""Things that may be one."""
_MONEY: Final = frozenset(
    "payment payout refund charge invoice dispute fund money bank wallet balance currency payable chargeback"
    " settlement billing payroll check cheque ach sepa card treasury ledger account_holder financial escrow"
    " creditnote issuing stock crypto trading brokerage".split()
)
"""Nouns that say that an action on them is about money."""
_TOGETHER: Final = frozenset("transfer deposit charge settle fund capture redeem".split())
_SENT: Final = frozenset("payment coin fund money cash transfer".split())
_CLAIMS: Final = frozenset({"invoice", "dispute", "chargeback", "bill", "credit_note", "creditnote"})
"""Claims to money: to void, pay, close or accept one decides who has it."""
_DECIDING: Final = frozenset("void close accept finalize write_off mark forgive".split())
_PREPARING: Final = frozenset(
    "draft preview estimate quote calculate simulate validate check search list count compute verify test template"
    " prepare example dry lookup query get evaluate"
    " cancel stop abort pause describe export download import sync report".split()
)
"""Words at the head of a name that say that nothing moves, or that it is averted."""
_BESIDE: Final = frozenset(
    "method link session page schedule setting setup config configuration profile request_template term reminder"
    " template webhook subscription destination route limit rule option type policy report event provider gateway"
    " note comment document attachment file receipt evidence price product plan coupon discount tax rate fee"
    " quote estimate draft preview item line_item line budget expense key token customer user account_token contact"
    " recipient beneficiary payee consent mandate agreement instrument source processor status preference address"
    " category tag label group metadata permission allowlist code notification message email domain location"
    " terminal device reader account contract history calendar challenge reward field property migration"
    " configuration domain detail capability originator intent_token".split()
)
"""Heads of nouns that are about money and do not move it (`payment_method`, `refund_policy`)."""
_AMOUNTS: Final = frozenset(
    {"amount", "amount_money", "total_amount", "transfer_amount", "payment_amount", "amount_cents"}
)
_CURRENCIES: Final = frozenset({"currency", "currency_code", "iso_currency_code", "asset", "source_currency"})


def moves_money(change: Change) -> str | None:
    """Return the words that say that the operation moves money, None where none do."""
    if _prepares(change) or change.category is Category.READ or change.facts.method == "DELETE":
        return None
    thing = change.thing[-1] if change.thing else ""
    if _is_beside(change):
        return None
    return _pays(change) or _acts_on_money(change) or _makes_movement(change, thing) or _sends_amount(change, thing)


def _prepares(change: Change) -> bool:
    """Return True if the names say that it only prepares or averts; a name in an extension alone may not say so."""
    declared = "x-mcpaql-name" in change.facts.operation.extensions
    names = [name for name in change.names if not (declared and name is change.words)]
    return bool(names) and all(name[0] in _PREPARING for name in names)


def _is_beside(change: Change) -> bool:
    """Return True if what it acts on is about money and no movement of it."""
    head = _head(change)
    return head in _BESIDE and not _paying_words(change)


def _head(change: Change) -> str:
    """Return the noun that the action is about: the last one of the path, or of the name where the path has none."""
    if change.thing:
        return change.thing[-1]
    return change.words[-1]


def _paying_words(change: Change) -> frozenset[str]:
    """Return the verbs of paying that name, path or operationId use as a verb."""
    heads = {name[0] for name in change.names} | {verb.word for verb in change.verbs}
    return frozenset(heads & _PAYING)


def _pays(change: Change) -> str | None:
    words = _paying_words(change)
    if not words or (change.category is Category.UPDATE and change.words[0] not in _PAYING):
        return None
    return f"it is called {min(words)}"


def _acts_on_money(change: Change) -> str | None:
    """Find a verb on money: `void_invoice`, `close_dispute`, `capture_payment_intent`, `transfer_funds`."""
    verbs = change.verb_words & _WITH_MONEY | ({"void"} if "void" in change.words[:2] else frozenset())
    if not verbs:
        return None
    nouns = (change.nouns - verbs) & (_MOVEMENTS | _CLAIMS)
    claim = change.nouns & _CLAIMS
    decided = verbs & _DECIDING and claim
    acting = verbs - {"mark", "close", "send", "submit", "issue", "finish", "process", "retry"}
    if decided or (nouns - claim and (acting or _is_movement(change))) or _has_amount(change):
        return f"it is called {min(verbs)}, of {min(nouns) if nouns else 'an amount'}"
    if verbs & _TOGETHER and (change.nouns - verbs) & _MONEY:
        return f"it is called {min(verbs)}, of {min((change.nouns - verbs) & _MONEY)}"
    if "send" in verbs and (sent := {singular(word) for word in change.words[-1:]} & _SENT):
        return f"it sends {min(sent)}"
    return None


def _is_movement(change: Change) -> bool:
    return bool(change.thing) and change.thing[-1] in _MOVEMENTS


def _makes_movement(change: Change, thing: str) -> str | None:
    """Find what is a movement of money by itself (`create_payout`), or with money beside it (`create_transfer`)."""
    if change.facts.shape.item or (change.category is Category.UPDATE and change.facts.method != "POST"):
        return None
    if change.category is Category.EXECUTE and change.facts.shape.action:
        return None
    last = {thing, "_".join(change.thing[-2:])}
    if last & _MOVEMENTS:
        return f"it makes a {thing}"
    doubtful = last & _DOUBTFUL
    if doubtful and (
        _has_amount(change) or (change.nouns - doubtful) & (_MOVEMENTS | {"bank", "wallet", "fund", "money"})
    ):
        return f"it makes a {thing} of money"
    return None


def _sends_amount(change: Change, thing: str) -> str | None:
    """Take a request with an amount and its currency for a movement where its thing may be one, or it has no thing."""
    if change.category is Category.UPDATE or not _has_amount(change):
        return None
    if thing and thing not in _DOUBTFUL | _MOVEMENTS and change.category is Category.CREATE:
        return None
    return "an amount and its currency are sent"


def _has_amount(change: Change) -> bool:
    """Return True if the body has an amount, and its currency beside or inside it."""
    fields = change.fields
    amounts = [name for name in fields if name in _AMOUNTS]
    if not amounts:
        return False
    if not _CURRENCIES.isdisjoint(fields) or any(name.endswith("_currency") for name in fields):
        return True
    return any(
        not isinstance(fields[name], dict) or fields[name].keys() & {"$ref", "properties", "allOf"} for name in amounts
    )
