"""Whether a text is written for a model and not for a reader of the API.

A text is compared in lower case, one space between words, without marks of emphasis, with letters that look like Latin
ones written as those; letters that are written one by one are joined, and what is encoded in base64 is decoded. Each
rule has words of which one must be there, so that the many texts without them cost little. Every pattern is linear:
gaps are bounded, and no two repeats that match the same stand side by side.
`python -m bench instructions` shows what fires on a corpus.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from aqlgen.runtime.text import without_unseen


@dataclass(frozen=True, slots=True)
class Instruction:
    """The rules that fire on a text, in their order, and the words that the first one found."""

    rules: tuple[str, ...]
    quote: str


@dataclass(frozen=True)
class Rule:
    """A sign of an instruction: its name, words of which one must be there, and its pattern.

    Rules on other languages look at each text that is not in ASCII.
    """

    name: str
    words: frozenset[str]
    source: str
    signs: str = ""
    """Characters of which one must be there, too, if there are any."""
    foreign: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when a text has one of the words: all of them take as long as a small document."""
        return re.compile(self.source)


def _rule(name: str, words: str, pattern: str, *, signs: str = "", foreign: bool = False) -> Rule:
    return Rule(name, frozenset(words.split()), pattern, signs, foreign)


_SECRETS: Final = (
    r"(?:api[ -]?keys?|(?:access |bearer |auth |session |user )?tokens?|credentials?|secrets?|passwords?"
    r"|(?:private|ssh) keys?|cookies|environment variables|env vars|conversation|(?:chat|message) (?:history|log)"
    r"|system prompt|context window)"
)
_READER: Final = (
    r"(?:the |your |any |this |human |end[ -]){0,3}(?:users?|humans?|persons?|people|operators?|customers?|developers?)"
)
_MODEL: Final = (
    r"(?:ai|a\.i\.|llms?|language models?|chatbot|gpt|claude|gemini|copilot|(?:ai |coding )?a(?:ssistant|gent)s?)"
)
_GAP: Final = r"[^.!?。！।\n]{0,60}?"
_IGNORE: Final = (
    "(?:ignor(?:a|ez|ar|er|are|e|i|ați|iere?n?|iert)|olvid[ae]|oublie[zr]?|esque[çc]a|dimentica|descarta|desconsidere"
    "|missachte[nt]?|verg[ie]ss|negeer|vergeet|ignoruj|zapomnij|игнорируй|забудь|ігноруй|yok say|görmezden gel|unut"
    "|abaikan|bỏ qua|忽略|无视|無視|忽視|忘记|忘れ|무시|잊|تجاهل|انس|התעל|अनदेखा|नज़रअंदाज|उपेक्षा)"
)
_ORDERS: Final = (
    "(?:instrucciones|(?:les|tes|vos|ces) instructions|instruções|instrucoes|istruzioni|instrucțiunile|anweisungen"
    "|anleitungen|instruktionen|instructies|instruktioner|instrukser|instrukcj|polecenia|pokyny|инструкци|указани"
    "|інструкці|talimat|instruksi|chỉ dẫn|hướng dẫn|指令|指示|说明|說明|提示|命令|规则|プロンプト|ルール"
    "|지시|명령|지침|프롬프트|تعليمات|الأوامر|الاوامر|הוראות|निर्देश)"
)
_FOREIGN: Final = (
    "instrucciones instructions instrucoes istruzioni anweisungen anleitungen instruktionen instructies instruktioner"
    " instrukser instrukcje instrukcji polecenia pokyny talimatlar instruksi usuario utilisateur utente benutzer nutzer"
    " anwender gebruiker pengguna"
)

RULES: Final = (
    _rule(
        "overrides instructions",
        "ignore ignoring disregard disregarding forget override overrides overriding bypass bypassing discard"
        " overwrite supersede supersedes obey obeying follow following",
        r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|es|ing)|bypass(?:ing)?|discard|overwrite"
        r"|supersedes?|(?:not|stop) (?:follow|obey)(?:ing)?) (?:\w{1,20} ){0,4}?(?:previous|prior|above|earlier"
        r"|preceding|foregoing|original|system|safety|all|your|my|these|those|any) (?:\w{1,20} ){0,3}?(?:instructions?"
        r"|prompts?|guidelines|directives|commands|guardrails|safeguards|training|programming|system messages?)\b"
        r"|\b(?:forget|disregard|ignore) (?:everything|all)(?: that)? (?:you|i|before|above|else)",
    ),
    _rule(
        "conceals from the person",
        "tell telling inform informing mention reveal disclose report alert alerting warn warning asking ask let"
        " letting know told informed aware notice find keep hide conceal keeping hiding concealing",
        r"\b(?:(?:do not|don'?t|never|must not|should not|shouldn'?t|without|avoid) (?:\w{1,20} ){0,2}?"
        r"(?:tell(?:ing)?|inform(?:ing)?|alert(?:ing)?|warn(?:ing)?|asking|let(?:ting)?)"
        rf" {_READER}\b(?! (?:that|if|whether|of|when) (?:they|their|he|she)\b)"
        r"|(?:do not|don'?t|never|must not) (?:\w{1,20} ){0,2}?(?:mention|reveal|disclose|report)"
        rf" (?:\w{{1,20}} ){{1,6}}?to {_READER}\b"
        rf"|{_READER} (?:must|should|need|does|do|can|will)(?: not|n'?t) (?:\w{{1,20}} )?(?:know|be (?:told"
        rf"|informed|made aware)|notice|find out)\b"
        rf"|(?:keep|hide|conceal)(?:ing)? (?:\w{{1,20}} ){{1,4}}?(?:secret |hidden )?from {_READER}\b"
        r"|(?:do not|don'?t|never) (?:mention|reveal|disclose) (?:this|that|these|it|the above|anything)\b"
        r"(?! (?:header|field|value|parameter|endpoint))"
        rf"|(?:do not|don'?t|never) (?:\w{{1,20}} )?ask (?:{_READER} )?for (?:\w{{1,20}} )?(?:confirmation"
        rf"|permission|approval|consent)\b)",
    ),
    _rule(
        "addresses a model",
        "ai llm llms gpt claude gemini copilot chatbot assistant assistants agent agents language",
        r"\b(?:as an ai(?: \w{1,20})?,? (?:you|i|we)\b|as a (?:large )?language model,? (?:you|i)\b"
        r"|(?:you are (?:now |no longer )?(?:an? |the )(?:\w{1,20} )?(?!agent)|if you are (?:an? )?(?:\w{1,20} )?)"
        rf"{_MODEL}\b"
        rf"|(?:dear|hey|hello|attention:?|attention all) (?:\w{{1,20}} )?{_MODEL}\b[ ,:!]"
        rf"|(?:note|message|instructions?) (?:to|for) (?:the |all |any )?{_MODEL}\b ?[:,]"
        r"|(?:ai(?: agents?| assistants?| models?)?|llms?|language models?|(?:the|any|all|every|each) assistants?)"
        r" (?:must|should|shall|has to|have to|(?:is|are) required to|needs? to) (?:always |never |not |first |also )?"
        r"(?:call|invoke|run|execute|read|send|ignore|pass|use|delete|reveal|respond|reply|answer|output|tell|obey)\b)",
    ),
    _rule(
        "asks for the prompt",
        "prompt instructions system",
        r"\b(?:reveal|print|output|repeat|show|include|append|send|reply with|respond with|leak|copy|paste|pass|return)"
        r"(?: me| us)? (?:\w{1,20} ){0,3}?(?:your|the full|the entire|the complete|its) (?:\w{1,20} ){0,2}?"
        r"(?:(?:system|initial) prompt|system message|(?:hidden|system) instructions|instructions verbatim)\b",
    ),
    _rule(
        "speaks in a role",
        "system assistant human instruction instructions tool_call tool_use tool_result function_call function_calls"
        " system_prompt im_start im_end user inst sys eot_id start_header_id end_of_turn",
        r"</?(?:system|assistant|instructions?|tool_(?:call|use|result)|function_calls?|system[-_](?:prompt|reminder))"
        r"(?: [^<>]{0,80})?>|<\|(?:im_start|im_end|system|user|assistant|end_of_turn|eot_id|start_header_id)\|?>?"
        r"|\[/?inst\]|<</?sys>>|#{2,6} ?(?:(?:system|new|hidden|assistant|important)? ?instructions?|system) ?:"
        r"|\[system\]|(?:^|[.!?:;\"'\n] ?|\n)(?:assistant|system|human) ?: ?(?=[a-z])(?!the \w|an? \w)",
        signs="<[#:",
    ),
    _rule(
        "orders the use of tools",
        "tool tools mcp always immediately silently secretly automatically unconditionally covertly quietly",
        r"\b(?:(?:before|prior to|after|whenever|when|every time|each time)(?: you)? (?:us|call|invok|runn?|execut)"
        r"(?:ing|e)? (?:this|that|any|the|other|these|every|all|another) (?:\w{1,30} ){0,3}?(?:tools?|mcp servers?)"
        r"|(?:when|whenever|if|once|after|each time) (?:this|the|any) (?:\w{1,30} )?tool (?:is|was|has been|gets)"
        r" (?:called|invoked|used|run|executed)"
        r"|(?:instead of|(?:do not|don'?t|never|stop) (?:us|call|invok)(?:e|ing)?) (?:(?:us|call|invok)ing )?"
        r"(?:the |any |other )?(?:[\w.-]{1,60} ){0,2}?(?:tools?|mcp servers?)"
        r"|(?:you (?:must|should|shall|have to|need to|are (?:required|instructed) to)|(?:make|be) sure to) (?:also )?"
        r"(?:always|immediately|silently|secretly|automatically|unconditionally) (?:first )?"
        r"(?:call|invoke|use|run|execute|read|fetch|open)"
        r"|(?:silently|secretly|covertly|quietly) (?:call|invoke|run|execute|send|forward|copy|upload|pass|include|read"
        r"|fetch|bcc|delete|add|append))\b",
    ),
    _rule(
        "sends secrets away",
        "send sends sending forward forwards forwarding upload uploads uploading transmit exfiltrate leak email post"
        " copy deliver submit read cat open load content contents pass passing include including put insert add append"
        " appending attach provide paste write",
        r"\b(?:send|forward|upload|transmit|exfiltrate|leak|e?-?mail|post|copy|deliver|submit)(?:s|ing)?"
        r" (?:\w{1,20} ){0,4}?(?:(?:user'?s|all|your|their|any|the|current|full|entire|whole|stored|found) ){1,3}"
        rf"(?:\w{{1,20}} ){{0,2}}?{_SECRETS} (?:\w{{1,20}} ){{0,4}}?(?:back )?to (?:https?:|www\.|[\w.+-]{{1,60}}@"
        r"|an? (?:external|remote|attacker|third)|our (?:server|collector|webhook)"
        r"|[\w-]{1,60}\.(?:com|net|org|io|dev|xyz|example|evil|ru|cn|test)\b)"
        r"|\b(?:read|cat|open|load|contents? of|pass|include|send|upload|attach|copy|paste|provide|append)\b"
        r"[^.!?]{0,60}?(?:~/\.|\.ssh/|\bid_rsa\b|/etc/(?:passwd|shadow|hosts)|\.aws/credentials|\.env\b|mcp\.json|\.cursor/"
        r"|\.npmrc|\.netrc|\.git-credentials|\.kube/config)(?!\.pub)"
        r"|\b(?:pass|include|put|insert|add|append|attach|provide|write|paste)(?:ing)? (?:\w{1,20} ){0,3}?"
        r"(?:(?:its|their|the file'?s?) contents?"
        r"|(?:the |your )(?:full |entire |whole |complete |previous |current ){1,3}"
        r"(?:conversation|chat|message|prompt|context)|your (?:system )?(?:prompt|instructions|context|memory|reasoning"
        r"|environment variables))\b",
    ),
    _rule(
        "new orders",
        "now instructions instruction task goal objective mission purpose role anything pretend act",
        r"\b(?:from now on,? (?:you|always|never|every|all|reply|respond|answer)\b|(?:new|updated|revised|real|actual"
        r"|secret|hidden) (?:system )?instructions? ?[:-]|your (?:new|real|actual|true) (?:task|goal|objective|mission"
        r"|purpose|role) is\b|do anything now|pretend (?:to be|that you|you are)\b|act as (?:if you|an? unrestricted)"
        r"|you are now (?:dan|root|free|unrestricted|jailbroken|acting|an? (?!member|customer|user)))",
    ),
    _rule(
        "overrides instructions (in another language)",
        _FOREIGN,
        rf"{_IGNORE}{_GAP}{_ORDERS}|{_ORDERS}{_GAP}{_IGNORE}",
        foreign=True,
    ),
    _rule(
        "conceals from the person (in another language)",
        _FOREIGN,
        r"(?:\bno (?:le |se lo )?(?:digas|informes|menciones|reveles)"
        r"|\bne (?:le )?(?:dis|dites|mentionnez) (?:pas|rien)|não (?:diga|informe|mencione|revele)"
        r"|\bnon (?:dire|dirlo|informare|rivelare)|не (?:говори|сообщай|рассказывай|кажи)|nie (?:mów|informuj)"
        r"|jangan (?:beri ?tahu|katakan)|đừng (?:nói|cho)"
        r"|(?:不要|别|不得|切勿|請勿|请勿|勿)(?:告诉|告訴|通知|告知|向|让|讓|提醒)"
        rf"|لا (?:تخبر|تقل|تذكر)|אל (?:תספר|תגיד|תודיע)){_GAP}(?:usuario|utilisateur|usuário|utente|пользовател"
        r"|користувач|użytkownik|pengguna|người dùng|用户|用戶|使用者|المستخدم|למשתמש)"
        rf"|(?:sag|verrate|erzähl|informier)\w{{0,4}} {_GAP}nutzer {_GAP}nicht|gebruiker {_GAP}niet"
        rf"|kullanıcıya {_GAP}(?:söyleme|bildirme)|उपयोगकर्ता को{_GAP}(?:न|मत|नहीं) बता"
        rf"|(?:ユーザー|利用者)に{_GAP}(?:言わ|伝え|知らせ|教え|話さ)な|사용자에게{_GAP}(?:말하|알리|전하)지",
        foreign=True,
    ),
)


_QUOTES: Final = str.maketrans("“”’‘", "\"\"''")
_LOOKALIKES: Final = str.maketrans(
    "аеорсухіїјѕԁһԛԝɡαορτνικυΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТХ",
    "aeopcyxiijsdhqwgaoptvikuABEZHIKMNOPTYXABEKMHOPCTX",
)
_KNOWN: Final = frozenset().union(*(rule.words for rule in RULES))
"""Words without which no rule of Latin letters fires."""
_WORD: Final = re.compile(r"\w+")
_LATIN: Final = re.compile("[a-zA-Z]")
_SPACED_OUT: Final = re.compile(r"(?<!\w)(?:\w[ .\-_]){6,60}\w(?!\w)")
_SPELLED: Final = re.compile(
    r"(?:ignore|disregard|forget)(?:all)?(?:of)?(?:the|your|my|any)?(?:previous|prior|above|earlier"
    r"|system)(?:instructions?|prompts?|rules)"
)
_SHORTEST_CODE: Final = 40
_ENCODED: Final = re.compile(rf"[A-Za-z0-9+/_-]{{{_SHORTEST_CODE},4000}}={{0,2}}")
_MAX_QUOTE: Final = 160
_MAX_TEXT: Final = 20_000


def instruction_in(text: str) -> Instruction | None:
    """Return the instruction to a model in a text, None without one."""
    if len(text) < 6:
        return None
    text = text[:_MAX_TEXT]
    folded = _folded(text)
    instruction = _judged(folded)
    if instruction is None and _SPACED_OUT.search(folded):
        joined = _SPACED_OUT.sub(lambda match: re.sub(r"[ .\-_]", "", match[0]), folded)  # `i g n o r e`
        spelled = _SPELLED.search(joined)
        instruction = _judged(joined) if spelled is None else Instruction(("spells out instructions",), spelled[0])
    return instruction or _encoded(text)


def _judged(folded: str) -> Instruction | None:
    known, ascii_only = _KNOWN.intersection(_WORD.findall(folded)), folded.isascii()
    matches = [
        (rule.name, folded[max(0, match.start() - 20) : match.end() + 60])
        for rule in (RULES if known or not ascii_only else ())
        if (not rule.words.isdisjoint(known) or (rule.foreign and not ascii_only))
        and (not rule.signs or any(map(folded.__contains__, rule.signs)))
        and (match := rule.pattern.search(folded)) is not None
    ]
    if not matches:
        return None
    quote = matches[0][1]
    quote = quote if len(quote) <= _MAX_QUOTE else f"{quote[: _MAX_QUOTE - 1]}…"
    return Instruction(tuple(name for name, _ in matches), quote)


def _folded(text: str) -> str:
    """Return a text as the rules read it; ends of paragraphs stay, since roles begin there."""
    if not text.isascii():
        text = without_unseen(unicodedata.normalize("NFKC", text))
        if _LATIN.search(text) and sum(map(str.isascii, text)) * 2 > len(text):
            text = text.translate(_LOOKALIKES)
        text = text.translate(_QUOTES)
    text = text.replace("*", "").replace("`", "")
    text = text.lower()
    if "_" in text:
        text = text.replace("__", " ")
    return " ".join(text.split())


def _encoded(text: str) -> Instruction | None:
    """Return the instruction to a model in an encoded part of a text, None without one."""
    for match in _ENCODED.finditer(text) if len(text) >= _SHORTEST_CODE else ():
        part = match[0].rstrip("=").replace("-", "+").replace("_", "/")
        try:
            decoded = base64.b64decode(part + "=" * (-len(part) % 4), validate=True).decode()
        except (binascii.Error, ValueError):
            continue
        if decoded.isprintable() and (instruction := _judged(_folded(decoded))) is not None:
            return Instruction((*instruction.rules, "encoded in base64"), instruction.quote)
    return None
