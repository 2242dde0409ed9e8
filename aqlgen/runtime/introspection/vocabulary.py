"""Words of searches and of what is searched: stems, stop words, words that mean the same, and what verbs do.

The rows, between bars, are this project's own. Each holds for any API: verbs that mean one thing to its users, and
nouns that one vendor says where another says its neighbour.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ..text import alike, without_unseen


def set_of(text: str) -> frozenset[str]:
    """Return the words between the spaces of a text."""
    return frozenset(text.split())


_WORD = re.compile(r"[a-z]++|[0-9]++|[^\W\d_a-z]++")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s\b)[a-z])")
_STOP = set_of(
    "a an the of for to in on by with and or from is be as that this it its are was were which who whom whose what"
    " when where how why do does did me i my you your we our us can could would should will some any s t re ve ll"
    " please want need let help using use given specific single if not no than then there their they them his her"
    " he she has have had been being into out about between ones also more via per such these those etc same just"
    " id ids gid uuid number certain many tell much am im so but"
)
_SUFFIXES = tuple(
    sorted(
        set_of(
            "ization isation ations ation ating ators ator ated ates ate ings ing edly ed ment ers er ors or ion ions"
            " able ly"
        ),
        key=lambda suffix: (-len(suffix), suffix),
    )
)
"""The longest that ends a word is taken."""
_LONGEST = 40
"""Letters of a word that count."""
_SHORT_ROWS = """
repo repository repositories repos | org organization organizations organisation organisations orgs | env environment
environments envs | config configuration configurations configs | app application applications apps | admin
administrator administrators admins | doc document documents docs | db database databases dbs | cert certificate
certificates certs | dir directory directories dirs | img image images imgs | msg message messages msgs | lang
language languages langs | param parameter parameters params | info information | auth authentication
"""
_SHORT = {word: row.split()[0] for row in _SHORT_ROWS.split("|") for word in row.split()}
"""The stems of words that have a common short form."""


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return the stem that a lower-case word shares with its forms: director, directed and directs are `direct`."""
    word = word[:_LONGEST]
    if len(word) <= 3 or not word.isascii() or word in _SHORT:
        return _SHORT.get(word, word)
    if word.endswith(("ies", "sses", "shes", "ches", "xes", "zes")) and len(word) > 4:
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    suffix = next((end for end in _SUFFIXES if word[4:].endswith(end)), "")
    word = word.removesuffix(suffix)
    if word[4:].endswith("e"):
        word = word[:-1]
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    return word[:-1] + "i" if word[-1] == "y" else word


def words_of(text: str) -> list[str]:
    """Return the lower-case words of a text, also those within names."""
    text = without_unseen(text)
    if not text[1:].islower():
        text = _CAMEL.sub(" ", text)
    return _WORD.findall(text.lower())


def plain_words(text: str) -> list[str]:
    """Return the lower-case words of a text, also those within names, without stop words."""
    return [word for word in words_of(text) if word not in _STOP]


@lru_cache(maxsize=16384)
def terms(text: str) -> tuple[str, ...]:
    """Return the stems of a text's words, in order, without stop words."""
    return tuple(map(stem, plain_words(text)))


_VERB_ROWS = """
get fetch show view retrieve read lookup see describe display | list all enumerate browse | search find query look |
create add new make insert register post append put open start store set write draft compose provision |
update edit modify change patch set rename adjust replace | delete remove destroy erase clear drop discard wipe purge |
execute run start trigger invoke launch fire | cancel abort stop void terminate end revoke |
close resolve complete finish end | send post deliver | enable activate turn |
disable deactivate suspend block offline | copy duplicate clone | invite ask | leave quit exit | join enter |
approve accept | reject deny decline refuse | archive retire | restore recover undelete undo rollback revert |
upload attach | download export | schedule plan book | follow subscribe watch | pause halt suspend |
resume continue unpause | skip next | play start resume | unfollow unsubscribe cancel | restart reboot hung |
move transfer migrate relocate | remove kick ban expel detach unlink disconnect revoke | connect link attach bind |
assign delegate give grant add | share publish | verify check validate confirm | merge combine join | sync refresh |
buy purchase order | mute silence | scale resize bigger smaller grow shrink | retry again redo rerun | lock freeze |
reset forgot lost | reply respond answer | generate create make draw take | login signin authenticate | logout signout |
signup register enroll
"""
_NOUN_ROWS = """
ticket issue bug problem case | refund money back | film movie | show series tv |
song track music | artist singer band musician | image picture photo cover poster logo drawing |
cast crew credit actor actress director star played starred | production produced producer |
user member person people account | customer client buyer | message chat | sms text message | call phone dial ring |
comment note reply story remark annotation | folder directory | webhook hook callback | subscription plan |
price cost fee | payment charge paid | balance money funds | expense spending spent spend |
owe receivable unpaid overdue outstanding due | picture avatar icon | label tag category | team group |
attachment file | collaborator contributor colleague teammate coworker | member colleague teammate somebody someone |
follower subscriber watcher watching | participant attendee guest | star favorite like | disk volume storage |
fork copy | director directed | email mail message | prune unused | transcription speech recording audio voice |
speech aloud spoken | recording video | configuration config setting |
assistant secretary deputy | workspace team organization | channel conversation room | server guild |
current currently now | favorite saved top liked | library saved my | suggestion recommendation recommend similar |
rating rated score vote | poll survey vote questionnaire | reaction emoji | newest latest recent |
worker employee staff | machine server instance vm node host | container pod | secret credential password |
certificate cert ssl tls https | key token | permission access right role privilege | log history audit activity |
log output console printed | statistic stat metric usage consumption | memory cpu usage stat | invoice bill billing |
order purchase | product item | pull merge pr mr | branch ref | release version | deploy deployment publish |
site website page web | schedule calendar | event meeting appointment | location place address |
delivery shipment shipping parcel | stock inventory | discount coupon voucher promotion promo |
company production studio network | episode season | play playback player | volume loud quiet | list playlist |
trash bin trashed deleted | vacation holiday absence | saving piggy aside | task todo job | incident outage alert |
notification alert | spreadsheet sheet table | row record line | replica copy instance | function script lambda |
language locale | review feedback | address ip | link permalink url
"""


def _stems(rows: str) -> list[frozenset[str]]:
    return [frozenset(map(stem, row.split())) for row in rows.split("|")]


def _related(rows: Iterable[frozenset[str]]) -> dict[str, frozenset[str]]:
    related: dict[str, set[str]] = {}
    for stems in rows:
        for word in stems:
            related.setdefault(word, set()).update(stems)
    return {word: frozenset(others - {word}) for word, others in related.items()}


_VERB_STEMS = _stems(_VERB_ROWS)
_VERBS = _related(_VERB_STEMS)
_NOUNS = _related(_stems(_NOUN_ROWS))
SAME = _related(
    _stems(
        "create add new make insert | get fetch show view retrieve read describe | list enumerate | search find query |"
        "update edit modify change patch | delete remove destroy erase | execute run trigger invoke"
    )
)
"""Verbs that are the same in names; the rows above hold more, which only come near."""
_NOTHING: frozenset[str] = frozenset()
READING = 0
"""The class of the verbs that read: the rows of getting, listing and finding are one."""
FINDING = frozenset(map(stem, ("search", "find", "query", "lookup")))
_CLASSES = {
    word: frozenset(max(index - 2, READING) for index, stems in enumerate(_VERB_STEMS) if word in stems)
    for word in _VERBS
}


_PHRASES = {
    "get rid of": "delete", "throw away": "delete", "take away": "remove", "turn off": "disable", "turn on": "enable",
    "switch off": "disable", "switch on": "enable", "look up": "find", "look for": "find", "sign up": "signup",
    "sign in": "login", "log in": "login", "sign out": "logout", "log out": "logout", "call off": "cancel",
    "set up": "create", "bring back": "restore", "roll back": "rollback", "try again": "retry", "shut down": "stop",
    "clean up": "prune", "how many": "count", "give me": "get",
}  # fmt: skip
"""Verbs of two words, as people say them; names have one."""
_PHRASE = re.compile(rf"\b({'|'.join(_PHRASES)})\b", re.IGNORECASE)
_PARTED = re.compile(
    rf"\b({'|'.join(phrase.split()[0] for phrase in _PHRASES)})((?: [\w'-]+){{1,3}}?) (away|back|down|off|on|up)\b",
    re.I,
)
"""One with its object between the two words, as in `throw the project away`."""


def plain_verbs(text: str) -> str:
    """Return a text with verbs of two words replaced by those of one: `get rid of` by `delete`."""
    verbs = ((parts[0], parts[2], _PHRASES.get(f"{parts[1]} {parts[3]}".lower())) for parts in _PARTED.finditer(text))
    for parted, thing, verb in verbs:
        text = text if verb is None else text.replace(parted, verb + thing, 1)
    return _PHRASE.sub(lambda phrase: _PHRASES[phrase[0].lower()], text)


def synonyms(word: str) -> frozenset[str]:
    """Return stems that may stand for a stem."""
    return _VERBS.get(word, _NOTHING) | _NOUNS.get(word, _NOTHING)


def verb_class(word: str) -> frozenset[int]:
    """Return the classes of a stem as a verb; verbs of one class do the same."""
    return _CLASSES.get(word, frozenset())


CREATING = frozenset().union(*map(verb_class, map(stem, ("create", "send", "copy", "generate"))))
ENDING = frozenset().union(*map(verb_class, map(stem, ("delete", "cancel", "remove", "leave", "unfollow", "prune"))))
"""The classes of the verbs that may ask for something to be destroyed."""


def same_words(text: str, name: str) -> bool:
    """Return True if two names have the same words, except a slip in one of them or verbs that mean the same."""
    left, right = plain_words(text), plain_words(name)
    if alike("".join(left), "".join(right)):
        return True
    first, second = sorted(map(stem, left)), sorted(map(stem, right))
    only, other = [w for w in first if w not in second], [w for w in second if w not in first]
    if len(first) != len(second) or len(only) != len(other):
        return False
    return not only or (len(only) == 1 and other[0] in SAME.get(only[0], _NOTHING))
