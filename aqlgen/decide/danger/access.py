"""Operations that take or give people's access: they deactivate users, revoke sessions, grant roles."""

from __future__ import annotations

from typing import Final

from aqlgen.decide.danger.change import Change
from aqlgen.decide.decision import Category
from aqlgen.decide.naming.noun import PREPOSITIONS
from aqlgen.words import singular

__all__ = ["moves_access"]

_TAKING: Final = frozenset(
    "deactivate suspend disable block ban lock revoke kick evict expel deprovision offboard terminate expire eject"
    " blacklist blocklist restrict demote quarantine unenroll unassign invalidate unlink disconnect"
    " deauthorize anonymize unregister dissociate disassociate remove".split()
)
"""Verbs that take from a person what they could do."""
_GIVING: Final = frozenset(
    "grant assign promote elevate impersonate authorize add set update replace create transfer change put associate"
    " attach".split()
)
"""Verbs that give somebody the right to do something."""
_PEOPLE: Final = frozenset(
    "user member account employee person people identity principal collaborator admin administrator customer contact"
    " guest operator owner teammate buyer supplier teacher student subscriber login".split()
)
_MEANS: Final = frozenset(
    "session factor mfa authenticator credential password passkey access permission role grant membership login"
    " certificate entitlement token secret key sso".split()
)
"""Things that people are admitted by."""
_RIGHTS: Final = frozenset(
    "role permission admin administrator owner collaborator privilege ownership superuser entitlement acl"
    " access membership".split()
)
"""Things that give rights by themselves."""
_DEFINED: Final = frozenset("role permission entitlement acl access owner admin administrator".split())
"""Words that may name a resource: creating a role, or replacing the owner of a pet, gives nobody a right."""
_BESTOWING: Final = frozenset("grant assign promote elevate transfer associate attach set".split())
_BESIDE: Final = frozenset(
    "setting preference email address notification photo avatar note comment tag label profile list group type"
    " rule webhook log job task field property schema attribute channel message card bank item status".split()
)
"""Heads of nouns that are about people and are not their access."""


def moves_access(change: Change) -> str | None:
    """Return the words that say that somebody gains or loses access, None where none do."""
    if change.category is Category.READ:
        return None
    return _takes(change) or _gives(change)


def _takes(change: Change) -> str | None:
    for name in change.names:
        verb, *rest = name
        if verb not in _TAKING:
            continue
        things = _things(change, rest)
        if things & (_PEOPLE | _MEANS):
            return f"it is called {verb}, of {min(things & (_PEOPLE | _MEANS))}"
    return None


def _things(change: Change, rest: list[str]) -> set[str]:
    """Return the object of a verb: the noun that the path ends in, or what the name says where it has one."""
    head = change.thing[-1:] if change.thing else ()
    end = next((at for at, word in enumerate(rest) if word in PREPOSITIONS), len(rest))
    words = {singular(word) for word in rest[:end][-1:]} | set(head)
    return set() if words & _BESIDE else words


def _gives(change: Change) -> str | None:
    """Find what gives rights: `assign_role`, `put_collaborator`, `impersonate_user`; defining a role gives none."""
    if change.category is Category.DELETE:
        return None
    verbs = change.verb_words & _GIVING
    if "impersonate" in verbs:
        return "it is called impersonate"
    nouns = change.facts.shape.nouns
    held = any(noun.parameters and set(noun.one) & _PEOPLE for noun in nouns[:-1])
    thing = set(change.thing[-1:]) | {singular(word) for word in change.words[-1:]}
    right = thing & _RIGHTS
    if not right or not verbs:
        return None
    defining = right <= _DEFINED and not (held or verbs & _BESTOWING)
    return None if defining else f"it is called {min(verbs)}, of {min(right)}"
