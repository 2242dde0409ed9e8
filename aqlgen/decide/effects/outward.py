"""The rules of effects on others: what gives or takes access, or reaches people (R-EFF-1).

Words are heads of what an operation acts on, and names of the fields that it sends. A rule whose words are beside that
only doubts, so that structure alone proves nothing; what is found for sure is asked about each time.
"""

from __future__ import annotations

from typing import Final

from aqlgen.decide.carried import CHOOSERS
from aqlgen.decide.decision import Category, Danger, Effect
from aqlgen.decide.effects.reading import Finding, Reading, answer_fields, head
from aqlgen.decide.naming.noun import is_plural
from aqlgen.decide.sentences import Act, Words, base_forms
from aqlgen.ir import Location
from aqlgen.runtime.encode.urls import split_at_placeholders
from aqlgen.words import singular, split

# Access

MEANS: Final = frozenset(
    "key token secret credential password passkey role permission grant acl membership session mfa otp factor"
    " totp webauthn authenticator certificate invitation invite sso privilege scope access auth authentication login"
    " impersonation whitelist allowlist cryptokey share".split()
)
"""Things by which people are admitted, or that give rights."""
_OFTEN_WORK: Final = frozenset({"session"})
"""Those that are as often a piece of work, such as an upload: a doubt."""
_PEOPLE: Final = frozenset(
    "user account subaccount employee person principal customer guest operator member owner admin collaborator".split()
)
_KEPT: Final = frozenset("password passphrase pin secret credential".split())
_RIGHTS: Final = _KEPT | frozenset("role permission admin superuser privilege access".split())
_ADMITTING: Final = frozenset(
    "impersonate promote demote grant revoke authorize ban unban suspend unsuspend block unblock deactivate"
    " reactivate activate approve".split()
)
"""Verbs that take from somebody what they could do, or give it to them."""
_FINAL: Final = frozenset("cancel terminate void expire pay issue approve reject refund".split())
"""Verbs of states from which hardly anything comes back."""
_CHOOSING: Final = CHOOSERS | {"status", "state"}
_LOCKING: Final = frozenset("lock unlock enable disable".split())
"""Verbs that do so if they are said of people."""
_RAISING: Final = frozenset("impersonate promote demote grant revoke".split())
"""Those that do so whatever they are said of."""
_MEMBERS: Final = frozenset("member participant user guest owner admin collaborator".split())
_JOINING: Final = frozenset({"add", "remove", "invite"})
_SECRETS: Final = frozenset({"token", "secret", "password"})
_GRANTED: Final = frozenset({"role", "permission", "privilege", "oauth", "authorization"})
_DESCRIBING: Final = frozenset({("name",), ("display", "name"), ("title",), ("description",)})
_OF_CLIENTS: Final = frozenset({("scopes",), ("redirect", "uri"), ("redirect", "uris")})
"""Fields of what may act for people (OAuth 2.0)."""
_OFFICES: Final = frozenset({"admin", "owner"})


def access(reading: Reading) -> Finding | None:
    """Find a grant or a withdrawal of rights, keys and ways in."""
    heads = reading.heads
    if means := heads & MEANS - _OFTEN_WORK:
        article = "an" if min(means)[0] in "aeiou" else "a"
        level = Danger.REVERSIBLE if _is_described(reading) else Danger.DESTRUCTIVE
        return Finding(Effect.ACCESS, level, f"it changes {article} {min(means)}")
    if heads & {"group", "team"} and reading.category is Category.UPDATE and (sent := reading.sends(_GRANTED)):
        return Finding(Effect.ACCESS, Danger.DESTRUCTIVE, f"its request has {sent}", "field")
    if heads & _PEOPLE and (sent := reading.sends(_RIGHTS | {"scope"}) or _state(reading)):
        return Finding(Effect.ACCESS, Danger.DESTRUCTIVE, f"its request has {sent}", "field")
    says = _admits(reading, heads)
    return Finding(Effect.ACCESS, Danger.DESTRUCTIVE, says) if says else None


def _is_described(reading: Reading) -> bool:
    """Return True if an update can send nothing but a name and a description."""
    return reading.category is Category.UPDATE and bool(reading.fields) and _DESCRIBING.issuperset(reading.fields)


def _state(reading: Reading) -> str:
    """Return the field of a person's that says who is let in: `blocked`, `is_enabled`."""
    names = (name for name, depth in reading.fields.items() if not depth and name)
    return next(("_".join(name) for name in names if (base_forms(name[-1]) - {name[-1]}) & (_ADMITTING | _LOCKING)), "")


def _admits(reading: Reading, heads: frozenset[str]) -> str:
    """Return the evidence that somebody is let in, or gets or loses a right."""
    things = reading.path_things
    verbs = reading.verb_words & (_ADMITTING | _LOCKING if heads & _PEOPLE else _RAISING)
    if len(things) > 1:
        part = things[-1]
        if heads & _OFFICES or (part == "email" and not _PEOPLE.isdisjoint(things[:-1])):
            return f"it changes the {part} of a {things[-2]}"
        if things[-2] in _PEOPLE | _MEMBERS:
            verbs |= base_forms(part) & (_ADMITTING | _LOCKING)
    if heads & _MEMBERS and (len(things) != 1 or reading.part):
        verbs |= reading.verb_words & _JOINING
        if not verbs and _joins(reading):
            return f"a {reading.noun} is added"
    return f"its name says {min(verbs)}" if verbs else ""


def _joins(reading: Reading) -> bool:
    """Return True if somebody becomes a member: by a POST to an item's members, or a PUT of one that sends nothing."""
    facts = reading.facts
    is_within = any(noun.parameters for noun in facts.shape.nouns[:-1])
    if facts.method == "POST":
        return is_within and not facts.shape.item and not facts.shape.action
    return facts.method == "PUT" and facts.shape.item and facts.operation.body is None


def access_beside(reading: Reading) -> Finding | None:
    """Find possible access: a word of it in the names or fields, or another address of a person who signs in."""
    is_changed = reading.category is Category.UPDATE and reading.heads & (
        _PEOPLE - {"person", "customer", "guest", "owner"}
    )
    if is_changed and (sent := reading.sends(frozenset({"email"}))):
        return Finding(Effect.ACCESS, Danger.REVERSIBLE, f"its request has {sent}", "field")
    words = (frozenset((*reading.thing, *reading.object)) & (MEANS | {"identity"})) | (
        _GRANTED & set(reading.path_things)
    )
    words |= {head(act.object) for act in reading.acts if act.verbs & _ADMITTING and not act.is_denied} & _GRANTED
    if words:
        return Finding(Effect.ACCESS, Danger.REVERSIBLE, f"it mentions {min(words)}")
    if client := _OF_CLIENTS & reading.fields.keys():
        return Finding(Effect.ACCESS, Danger.REVERSIBLE, f"its request has {'_'.join(min(client))}", "field")
    is_made = reading.category is Category.CREATE  # its secrets are those of what it connects to
    is_actor = "admin" not in reading.around.schemas.properties(reading.subject.body)  # an `admin_id` says who it is
    others = (_KEPT if is_made else frozenset()) | ({"admin"} if is_actor else frozenset())
    rights = reading.sends(_RIGHTS - others)
    if is_made and not rights and reading.noun in _PEOPLE and (means := _means_of_item(reading)):
        return Finding(Effect.ACCESS, Danger.REVERSIBLE, f"a {reading.noun} has a {means}")
    return Finding(Effect.ACCESS, Danger.REVERSIBLE, f"its request has {rights}", "field") if rights else None


def _means_of_item(reading: Reading) -> str:
    """Return the means of access of a new item, such as a `password` below its path; "" if it has none."""
    below = (other for other in reading.others.values() if other.template.startswith(f"{reading.template}/{{}}/"))
    return min((each for other in below for each in other.path_things[-1:] if each in MEANS), default="")


def access_answered(reading: Reading) -> Finding | None:
    """Find a secret that a create answers with: who has read it keeps it, even where the thing can be deleted.

    What its path has, too, or that of the new item, is an identifier.
    """
    if reading.category is not Category.CREATE or access_beside(reading) is not None:
        return None
    answered = answer_fields(reading.subject.answer, reading.around.schemas, depth=0)
    named = (words for words in map(split, answered) if words[-2:] == ("api", "key") or {*words[-1:]} & _SECRETS)
    secret = "_".join(next((words for words in named if words not in _identifiers(reading)), ()))
    return Finding(Effect.ACCESS, Danger.REVERSIBLE, f"it answers with a {secret}", "field") if secret else None


def _identifiers(reading: Reading) -> set[Words]:
    """Return the names of the parameters of its path and of the new item's (`token` of `/cards/{card_token}`)."""
    around, path = reading.around, reading.facts.operation.path
    paths = (path, *(each.operation.path for each in around.of_template(f"{reading.template}/{{}}")))
    names = [split(name) for path in paths for name in split_at_placeholders(path)[1]]
    return {*names, *(name[-1:] for name in names)}


def chosen(reading: Reading) -> Finding | None:
    """Find a change of rights or an end among the values of a field: `operation_type: SHARE | REVOKE`."""
    schemas, is_act = reading.around.schemas, reading.category in (Category.UPDATE, Category.EXECUTE)
    final: Finding | None = None
    for name, field in schemas.properties(reading.subject.body).items() if is_act else ():
        words = split(name)
        listed = schemas.listed(field) if not _CHOOSING.isdisjoint((*words[:1], *words[-1:])) else ()
        for value in listed:
            verbs, says = split(value[:60]), f"its {name} may be {value}"
            forms = base_forms(verbs[0]) if len(verbs) == 1 else frozenset()
            if not _RAISING.isdisjoint(verbs):
                return Finding(Effect.ACCESS, Danger.DESTRUCTIVE, says, "field")
            if final is None and forms & (_FINAL if "open" in listed else _FINAL | {"close"}):
                final = Finding(Effect.ENDS, Danger.REVERSIBLE, says, "field")
    return final


# People

_REACHING: Final = frozenset("send resend notify invite broadcast announce forward email mail dial call fax".split())
_MESSAGES: Final = frozenset(
    "message email mail sms mms notification invitation call fax letter postcard campaign reminder broadcast"
    " newsletter voice whatsapp".split()
)
_RECIPIENTS: Final = frozenset("to cc bcc recipient destination chat channel".split())
_ADDRESSES: Final = frozenset("phone mobile msisdn email number".split())
"""Fields that are recipients at the root of a request; below it they are of somebody else."""
_CONTENTS: Final = frozenset("subject body text message html content template sms media attachment caption".split())


def reaches(act: Act) -> bool:
    """Return True for an act that sends a message to somebody."""
    return not act.is_denied and not act.verbs.isdisjoint(_REACHING) and head(act.object) in _MESSAGES


def people(reading: Reading) -> Finding | None:
    """Find a message to people: one that is sent, or recipients beside a content."""
    recipients = reading.sends(_RECIPIENTS) or addresses(reading)
    for act in reading.acts:
        if reaches(act) or (recipients and not act.is_denied and act.verbs & _REACHING):
            return Finding(Effect.PEOPLE, Danger.DESTRUCTIVE, act.says, act.kind)
    contents = reading.sends(_CONTENTS)
    is_kept = any(words[-1] in ("draft", "drafts") for words in reading.path_nouns)
    if recipients and contents and not is_kept and reading.category in (Category.CREATE, Category.EXECUTE):
        return Finding(Effect.PEOPLE, Danger.DESTRUCTIVE, f"its request has {recipients} and {contents}", "field")
    return None


def addresses(reading: Reading) -> str:
    """Return the first field at the root of the request that is an address of somebody."""
    return next(("_".join(name) for name, depth in reading.fields.items() if not depth and _is_address(name)), "")


def _is_address(name: Words) -> bool:
    last = name[-2:-1] if name[-1:] in (("address",), ("addresses",), ("number",), ("numbers",)) else name[-1:]
    return bool(name) and singular((last or name)[-1]) in _ADDRESSES


def people_beside(reading: Reading) -> Finding | None:
    """Find a possible message to people: a message among the things acted on, or a verb of sending."""
    nouns = {*reading.heads}
    if reading.category is Category.UPDATE:  # settings of notifications, and templates of messages, send nothing
        *_, whole, part = (None, None, *reading.facts.shape.nouns)
        is_part = whole is not None and whole.parameters and part is not None and not is_plural(part.words)
        around = reading.path_things[-2:-1] if is_part else ()
        sent = {singular(name[-1]) for name in reading.fields if name}  # at any depth: silence proves nothing
        if sent and sent.isdisjoint(_RECIPIENTS | _CONTENTS | _ADDRESSES):
            return None
        nouns = {*reading.heads, *around} - {"notification"}
    words = (nouns & _MESSAGES) | (reading.verb_words & _REACHING)
    return Finding(Effect.PEOPLE, Danger.REVERSIBLE, f"it mentions {min(words)}") if words else None


def people_chosen(reading: Reading) -> Finding | None:
    """Find a switch of the request that sends a message, such as `send_email`."""
    operation, schemas = reading.facts.operation, reading.around.schemas
    asked = {each.name: each.schema for each in operation.parameters if each.location is Location.QUERY}
    for name, field in (*schemas.properties(reading.subject.body).items(), *asked.items()):
        if schemas.kinds(field) == {"boolean"} and not _REACHING.isdisjoint(split(name)[:1]):
            return Finding(Effect.PEOPLE, Danger.REVERSIBLE, f"its request has {name}", "field")
    return None
