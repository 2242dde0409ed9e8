"""The rules by which a text counts as written for a model: an ordered table of names, scores and patterns.

Each rule has words of which one must be there, so that the many texts without them cost little. The scores of the rules
that fire are added; from `THRESHOLD` on a person has to look. Every pattern is linear: gaps are bounded, and no two
repeats that match the same stand side by side.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

__all__ = ["RULES", "THRESHOLD", "Rule"]

THRESHOLD: Final = 3


@dataclass(frozen=True)
class Rule:
    """A sign of an instruction: its name, its score, words of which one must be there, and its pattern.

    `parts` are words of other scripts, which need not stand alone.
    """

    name: str
    score: int
    words: frozenset[str]
    parts: tuple[str, ...]
    source: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when a text has one of the words: all of them take as long as a small document."""
        return re.compile(self.source)


def _rule(name: str, score: int, words: str, pattern: str) -> Rule:
    known = words.split()
    parts = tuple(word for word in known if not word.isascii())
    return Rule(name, score, frozenset(filter(str.isascii, known)), parts, pattern)


_SECRETS: Final = (
    r"(?:api[ -]?keys?|(?:access |bearer |auth |session |user )?tokens?|credentials?|secrets?|passwords?"
    r"|private keys?|ssh keys?"
    r"|cookies|environment variables|env vars|conversation|chat (?:history|log)|message history"
    r"|system prompt|context window)"
)
_READER: Final = (
    r"(?:the |your |any |this |human |end[ -]){0,3}(?:users?|humans?|persons?|people|operators?"
    r"|customers?|developers?)"
)
_MODEL: Final = r"(?:ai|a\.i\.|llm|language model|chatbot|gpt|claude|gemini|copilot|assistant|ai agent|agents?)"

RULES: Final = (
    _rule(
        "overrides instructions",
        3,
        "ignore ignoring disregard disregarding forget override overrides overriding bypass bypassing discard"
        " overwrite supersede supersedes obey obeying follow following",
        r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|es|ing)|bypass(?:ing)?|discard|overwrite"
        r"|supersedes?|(?:not|stop) (?:follow|obey)(?:ing)?)"
        r" (?:\w{1,20} ){0,4}?(?:previous|prior|above|earlier|preceding|foregoing|original|system"
        r"|safety|all|your|my|these|those|any)"
        r" (?:\w{1,20} ){0,3}?(?:instructions?|prompts?|guidelines|directives|commands|guardrails|safeguards"
        r"|training|programming|system messages?)\b",
    ),
    _rule(
        "conceals from the person",
        3,
        "tell telling inform informing mention reveal disclose report alert alerting warn warning asking ask let"
        " letting know told informed aware notice find keep hide conceal keeping hiding concealing",
        r"\b(?:(?:do not|don'?t|never|must not|should not|shouldn'?t|without"
        r"|avoid) (?:\w{1,20} ){0,2}?(?:tell(?:ing)?|inform(?:ing)?|alert(?:ing)?|warn(?:ing)?"
        rf"|asking|let(?:ting)?) {_READER}\b(?! (?:that|if|whether|of|when) (?:they|their|he|she)\b)"
        r"|(?:do not|don'?t|never|must not) (?:\w{1,20} ){0,2}?(?:mention|reveal|disclose"
        r"|report) (?:\w{1,20} ){1,6}?to "
        rf"{_READER}\b"
        rf"|{_READER} (?:must|should|need|does|do|can|will)(?: not|n'?t) (?:\w{{1,20}} )?(?:know|be (?:told"
        rf"|informed|made aware)|notice|find out)\b"
        rf"|(?:keep|hide|conceal)(?:ing)? (?:\w{{1,20}} ){{1,4}}?(?:secret |hidden )?from {_READER}\b"
        r"|(?:do not|don'?t|never) (?:mention|reveal|disclose) (?:this|that|these|it|the above"
        r"|anything)\b(?! (?:header|field|value|parameter|endpoint))"
        rf"|(?:do not|don'?t|never) (?:\w{{1,20}} )?ask (?:{_READER} )?for (?:\w{{1,20}} )?(?:confirmation"
        rf"|permission|approval|consent)\b)",
    ),
    _rule(
        "addresses a model",
        3,
        "ai llm llms gpt claude gemini copilot chatbot assistant agent agents language",
        rf"\b(?:as an ai(?: \w{{1,20}})?,? (?:you|i|we)\b|as a (?:large )?language model,? (?:you|i)\b"
        rf"|you are (?:now |no longer )?(?:an? |the )(?:\w{{1,20}} )?(?:ai|llm|language model|chatbot"
        rf"|assistant|ai agent|coding agent|helpful assistant)\b"
        rf"|if you are (?:an? )?(?:\w{{1,20}} )?{_MODEL}\b"
        rf"|(?:dear|hey|hello|attention:?|attention all) (?:\w{{1,20}} )?(?:ai|llms?|language models?|chatbot"
        rf"|gpt|claude|gemini|copilot|assistant|agents?)\b[ ,:!]"
        rf"|(?:note|message|instructions?) (?:to|for) (?:the |all |any )?(?:ai|llms?|language models?"
        rf"|assistants?|ai agents?|agents?)\b ?[:,])",
    ),
    _rule(
        "commands a model",
        3,
        "ai llm llms assistant assistants language",
        r"\b(?:ai|llms?|ai (?:agents?|assistants?|models?)|language models?|(?:the|any|all|every"
        r"|each) assistants?)"
        r" (?:must|should|shall|has to|have to|is required to|are required to|needs? to) (?:always |never "
        r"|not |first |also )?"
        r"(?:call|invoke|run|execute|read|send|ignore|pass|use|delete|reveal|respond|reply|answer|output"
        r"|mention|tell|ask|obey|follow)\b",
    ),
    _rule(
        "names the prompt",
        1,
        "prompt system developer hidden instructions",
        r"\b(?:system prompt|system message|developer message|hidden instructions?|your (?:initial "
        r"|original )?instructions|initial prompt)\b",
    ),
    _rule(
        "asks for the prompt",
        3,
        "prompt instructions system",
        r"\b(?:reveal|print|output|repeat|show|include|append|send|reply with|respond with|leak|copy|paste"
        r"|pass|return)(?: me| us)? (?:\w{1,20} ){0,3}?(?:your|the full|the entire|the complete"
        r"|its) (?:\w{1,20} ){0,2}?(?:system prompt|initial prompt|system message|hidden instructions"
        r"|instructions verbatim|system instructions)\b",
    ),
    _rule(
        "role marker",
        3,
        "system assistant instruction instructions tool_call tool_use tool_result function_call function_calls"
        " system_prompt im_start im_end user inst sys eot_id start_header_id end_of_turn",
        r"(?:</?(?:system|assistant|instructions?|tool_(?:call|use|result)|function_calls?|system[-_]prompt"
        r"|system[-_]reminder)(?: [^<>]{0,80})?>"
        r"|<\|(?:im_start|im_end|system|user|assistant|end_of_turn|eot_id|start_header_id)\|?>?|\[/?inst\]|<</?sys>>"
        r"|#{2,6} ?(?:system|new|hidden|assistant|important)? ?instructions?(?: for \w{1,20})?:"
        r"|#{2,6} ?system\b ?:|\[system\]|begin[ _]system[ _]prompt)",
    ),
    _rule(
        "speaks in a role",
        3,
        "assistant system human",
        r"(?:^|[.!?:;\"'\n] ?|\n)(?:assistant|system|human) ?: ?(?=[a-z])(?!the \w|an? \w)",
    ),
    _rule(
        "orders the use of tools",
        3,
        "tool tools mcp",
        r"\b(?:(?:before|prior to|after|whenever|when|every time|each time)(?: you)? (?:us|call|invok|runn?"
        r"|execut)(?:ing|e)?"
        r" (?:this|that|any|the|other|these|every|all|another) (?:\w{1,30} ){0,3}?(?:tools?|mcp servers?)"
        r"|(?:when|whenever|if|once|after|each time) (?:this|the|any) (?:\w{1,30} )?tool (?:is|was|has been"
        r"|gets) (?:called|invoked|used|run|executed))\b",
    ),
    _rule(
        "demands a call",
        3,
        "always immediately silently secretly automatically unconditionally covertly quietly",
        r"\b(?:you (?:must|should|shall|have to|need to|are required to|are instructed to)|(?:make"
        r"|be) sure to|it is (?:mandatory|essential|critical) (?:that you|to)) (?:also )?(?:always"
        r"|immediately|silently|secretly|automatically|unconditionally) (?:first )?(?:call|invoke|use|run"
        r"|execute|read|fetch|open)\b"
        r"|\b(?:silently|secretly|covertly|quietly) (?:call|invoke|run|execute|send|forward|copy|upload|pass"
        r"|include|read|fetch|bcc|delete|add|append)\b",
    ),
    _rule(
        "replaces another tool",
        3,
        "tool tools mcp",
        r"\b(?:instead of (?:using |calling |invoking )?(?:the |any "
        r"|other )?(?:[\w.-]{1,60} ){0,2}?(?:tools?|mcp servers?)\b"
        r"|(?:do not|don'?t|never|stop) (?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing)) (?:the |any )?(?:other "
        r"|[\w.-]{1,60} ){0,2}(?:tools?|mcp servers?)\b"
        r"|(?:all |any )?other (?:tools?|mcp servers?) (?:are|is|must|should"
        r"|have been) (?:\w{1,20} ){0,2}?(?:deprecated|disabled|unsafe|broken|forbidden|not|never|obsolete"
        r"|compromised))",
    ),
    _rule(
        "reads local secrets",
        3,
        "ssh id_rsa id_ed25519 passwd shadow hosts credentials env mcp cursor npmrc netrc git bash_history kube"
        " claude_desktop_config",
        r"(?:\b(?:read|cat|open|load|contents? of|content from|pass|include|send|upload|attach|copy|paste"
        r"|provide|fetch|append)\b[^.!?]{0,60}?(?:~/\.|\.ssh/|\bid_rsa\b|\bid_ed25519\b|/etc/(?:passwd|shadow"
        r"|hosts)|\.aws/credentials|\.env\b|mcp\.json|\.cursor/|\.npmrc|\.netrc|\.git-credentials"
        r"|\.bash_history|\.kube/config)(?!\.pub)"
        r"|/etc/(?:passwd|shadow)\b|\.cursor/mcp\.json|claude_desktop_config)",
    ),
    _rule(
        "sends secrets away",
        3,
        "send sends sending forward forwards forwarding upload uploads uploading transmit transmits transmitting"
        " exfiltrate exfiltrates leak leaks email mail post posts posting copy copies deliver submit submits",
        rf"\b(?:send|forward|upload|transmit|exfiltrate|leak|e?-?mail|post|copy|deliver|submit)(?:s"
        rf"|ing)? (?:\w{{1,20}} ){{0,4}}?(?:(?:user'?s|all|your|their|any|the|current|full|entire|whole|stored"
        rf"|found) ){{1,3}}(?:\w{{1,20}} ){{0,2}}?{_SECRETS}"
        r"(?: (?:\w{1,20} ){0,4}?)(?:back )?to (?:https?:|www\.|[\w.+-]{1,60}@|an? (?:external|remote"
        r"|attacker|third)|our (?:server|collector|webhook)|[\w-]{1,60}\.(?:com|net|org|io|dev|xyz|example"
        r"|evil|ru|cn|test)\b)",
    ),
    _rule(
        "wants a secret as an argument",
        3,
        "pass passing include including put place placing insert inserting add adding append appending embed"
        " embedding attach attaching provide providing fill filling write writing supply paste",
        r"\b(?:pass|include|put|place|insert|add|append|embed|attach|provide|fill in|write|supply"
        r"|paste)(?:ing)? (?:\w{1,20} ){0,3}?(?:its contents?|their contents?|the file'?s? contents?|(?:the "
        r"|your )(?:full |entire |whole |complete |previous |current |raw ){1,3}(?:conversation|chat"
        r"|message history|prompt|context|chat history|conversation history)|(?:the "
        r"|all )?previous (?:tool )?(?:messages|results|outputs|conversation)|your (?:system )?(?:prompt"
        r"|instructions|context|memory|reasoning|environment variables))\b",
    ),
    _rule(
        "wants a credential as an argument",
        2,
        "pass passing include including put place insert add append embed attach provide fill write supply paste send",
        r"\b(?:pass|include|put|place|insert|add|append|embed|attach|provide|fill in|write|supply|paste"
        r"|send)(?:ing)? (?:the )?"
        rf"(?:user'?s|their|your|all|any) (?:\w{{1,20}} ){{0,2}}?{_SECRETS} (?:\w{{1,20}} ){{0,2}}?(?:in|as"
        rf"|into) (?:the |an? )?(?:\w{{1,20}} ){{0,2}}?"
        r"(?:fields?|parameters?|arguments?|notes?|description|comments?|title|message)\b",
    ),
    _rule(
        "new orders",
        3,
        "now everything instructions instruction task goal objective mission purpose role developer"
        " debug god dan anything pretend act",
        r"\b(?:from now on,? (?:you|always|never|every|all|reply|respond|answer)\b|(?:new|updated|revised"
        r"|real|actual|secret|hidden) (?:system )?instructions? ?[:-]|your (?:new|real|actual|true) (?:task"
        r"|goal|objective|mission|purpose|role) is\b|(?:enter|enable|in) (?:developer|debug|god"
        r"|dan) mode you\b|do anything now|pretend (?:to be|that you|you are)\b|act as (?:if you"
        r"|an? unrestricted)|you are now (?:dan|root|free|unrestricted|jailbroken|acting|an? (?!member"
        r"|customer|user))|(?:forget|disregard|ignore) (?:everything|all)(?: that)? (?:you|i|before|above"
        r"|else))",
    ),
    _rule(
        "presses",
        1,
        "important critical mandatory urgent attention",
        r"(?:^|[^\w])(?:<)?(?:very )?(?:important|critical|mandatory|urgent|attention)(?: instructions?"
        r"| note)? ?[:!>]",
    ),
    _rule(
        "evades confirmation",
        2,
        "skip bypass circumvent need wait assume already accept approve autoaccept autoapprove auto",
        r"\b(?:skip|bypass|circumvent|auto-?accept|auto-?approve|no need (?:to ask )?for|do not wait for"
        r"|don'?t wait for|assume|already (?:has |have )?(?:given|granted"
        r"|obtained)) (?:\w{1,20} ){0,3}?(?:user )?(?:confirmations?|approvals?|permission|consent"
        r"|guardrails)\b",
    ),
    # The same in other languages
    _rule(
        "overrides instructions (Romance)",
        3,
        "instrucciones instructions instruções instrucoes istruzioni instrucțiuni",
        r"\b(?:ignor(?:a|ez|ar|er|are|i|ați|e(?= (?:toute?s?|les|tes|vos|ces|as|todas|suas)\b))"
        r"|olvid(?:a|e)|oublie[zr]?|esque[çc]a|dimentica|descarta"
        r"|desconsidere) (?:\w{1,20} ){0,4}?(?:instrucciones|instructions|instruções|instrucoes|istruzioni"
        r"|instrucțiunile)\b",
    ),
    _rule(
        "conceals from the person (Romance)",
        3,
        "usuario utilisateur usuário utente",
        r"\b(?:no (?:le |se lo )?(?:digas|informes|menciones|reveles)|ne (?:le )?(?:dis|dites|informe[zr]?"
        r"|mentionne[zr]?) (?:pas|rien)|não (?:diga|informe|mencione|revele)|non (?:dire|dirlo|informare"
        r"|rivelare)) (?:\w{1,20} ){0,4}?(?:al |à l'|ao |all')?(?:usuario|utilisateur|usuário|utente)\b",
    ),
    _rule(
        "overrides instructions (Germanic)",
        3,
        "anweisungen anleitungen instructies instruktioner instrukser",
        r"\b(?:ignorier(?:e|en|t)|missachte[nt]?|vergiss|vergessen sie|negeer|vergeet|ignorera"
        r"|ignorer) (?:\w{1,20} ){0,4}?(?:anweisungen|anleitungen|instruktionen|instructies|instruktioner"
        r"|instrukser)\b",
    ),
    _rule(
        "conceals from the person (Germanic)",
        3,
        "benutzer nutzer anwender gebruiker användaren",
        r"\b(?:(?:sag|sage|sagen sie|verrate|erzähle|teile|informiere) (?:\w{1,20} ){0,2}?(?:dem |der "
        r"|den )?(?:benutzer|nutzer|anwender)\w{0,3} (?:\w{1,20} ){0,3}?(?:nicht|nichts|davon nichts)"
        r"|vertel (?:het )?(?:\w{1,20} ){0,2}?gebruiker (?:\w{1,20} ){0,2}?niet|berätta inte)\b",
    ),
    _rule(
        "overrides instructions (Slavic, Turkic and others)",
        3,
        "инструкци указани інструкці instrukcj instrukcje instrukcji polecenia pokyny talimatları talimatlar"
        " instruksi dẫn",
        r"(?:(?:игнорируй(?:те)?|забудь(?:те)?|проигнорируй(?:те)?|ігноруй(?:те)?"
        r"|не обращай(?:те)? внимания на) (?:\w{1,20} ){0,4}?(?:инструкци|указани|інструкці)|(?:z?ignoruj"
        r"|zapomnij o) (?:\w{1,20} ){0,4}?(?:instrukcj|polecenia|pokyny)|talimatlar\w{0,6} (?:yok say"
        r"|görmezden gel|unut)|abaikan (?:\w{1,20} ){0,3}?instruksi|bỏ qua (?:\w{1,20} ){0,5}?(?:chỉ dẫn"
        r"|hướng dẫn))",
    ),
    _rule(
        "conceals from the person (Slavic, Turkic and others)",
        3,
        "пользовател користувач użytkownik użytkownikowi kullanıcıya pengguna người",
        r"(?:не (?:говори(?:те)?|сообщай(?:те)?|рассказывай(?:те)?|кажи) (?:\w{1,20} ){0,3}?(?:пользовател"
        r"|користувач)|nie (?:mów|informuj) (?:\w{1,20} ){0,2}?użytkownik"
        r"|kullanıcıya (?:\w{1,20} ){0,3}?(?:söyleme|bildirme)|jangan (?:beri ?tahu"
        r"|katakan) (?:\w{1,20} ){0,3}?pengguna|đừng (?:nói|cho) (?:\w{1,20} ){0,3}?người dùng)",
    ),
    _rule(
        "overrides instructions (Chinese, Japanese, Korean)",
        3,
        "忽略 无视 無視 忽視 忘记 忘れ 무시 잊",
        r"(?:(?:忽略|无视|無視|忽視|忘记|不要理会)[^。！\n]{0,12}(?:指令|指示|说明|說明|提示|命令|规则)|(?:指示|命令|プロンプト|ルール)[^。\n]{0,8}(?:無視"
        r"|忘れ)|(?:지시|명령|지침|프롬프트)[^.\n]{0,10}(?:무시|잊))",
    ),
    _rule(
        "conceals from the person (Chinese, Japanese, Korean)",
        3,
        "用户 用戶 使用者 ユーザー 利用者 사용자",
        r"(?:(?:不要|别|不得|切勿|請勿|请勿|勿)(?:告诉|告訴|通知|告知|向|让|讓|提醒)[^。\n]{0,4}(?:用户|用戶|使用者)|(?:ユーザー"
        r"|利用者)に[^。\n]{0,10}(?:言わな|伝えな|知らせな|教えな|話さな)|사용자에게[^.\n]{0,12}(?:말하지|알리지|전하지))",
    ),
    _rule(
        "overrides instructions (Arabic, Hebrew, Hindi)",
        3,
        "تجاهل انس התעלם निर्देश अनदेखा",
        r"(?:تجاهل[^.\n]{0,20}(?:التعليمات|تعليمات|الأوامر|الاوامر)|التعليمات[^.\n]{0,20}تجاهل|התעל(?:ם|מי"
        r"|מו)[^.\n]{0,20}(?:הוראות|ההוראות)|निर्देश[^।\n]{0,20}(?:अनदेखा|नज़रअंदाज़|नज़रअंदाज|उपेक्षा))",
    ),
    _rule(
        "conceals from the person (Arabic, Hebrew, Hindi)",
        3,
        "المستخدم למשתמש उपयोगकर्ता",
        r"(?:لا (?:تخبر|تقل|تذكر|تُخبر)[^.\n]{0,15}(?:المستخدم|للمستخدم)|אל (?:תספר|תגיד"
        r"|תודיע)[^.\n]{0,10}למשתמש|उपयोगकर्ता को[^।\n]{0,20}(?:न बता|मत बता|नहीं बता))",
    ),
)
