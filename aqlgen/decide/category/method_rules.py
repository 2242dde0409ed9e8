"""Category rules (R-NAME-1): what is declared, the HTTP method, and where POST leaves it open, names and paths.

Each is a pure function of an operation's facts and returns a verdict, or None where it does not apply.
"""

from __future__ import annotations

import re
from typing import Final

from aqlgen.decide.carried import DELETING
from aqlgen.decide.category.evidence import Verdict
from aqlgen.decide.category.reads import COMPUTING, path_acts, sent_act, text_acts
from aqlgen.decide.decision import Category, Doubt, Evidence
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.noun import is_plural
from aqlgen.decide.naming.verbs import Verb, find_verb
from aqlgen.ir import Location, Operation
from aqlgen.runtime.wire import SAFE_METHODS
from aqlgen.words import split

_CHANGES: Final = frozenset("create delete update remove insert set add patch revoke".split())
_ACTS: Final = frozenset("connect login logout send trigger".split())
_BEHIND_ITEM: Final = re.compile(r"\}[/:][^/:{}]+$")
_KEEPING: Final = COMPUTING - {"generate"}
"""Verbs of a GET that leave everything as it was; what is generated may be kept."""
_LETTING_GO: Final = frozenset(
    (
        "detach disassociate untag unassign unlink unfollow unstar unlike unmark unblock unlock unpin unmute"
        " unhide disable deactivate reset untrash restore cancel stop abort leave unban unpublish archive"
        " unsuspend suspend decline dismiss reject close end abandon terminate disconnect unbind deauthorize"
        " logout unshare unlist unset release"
    ).split()
)
"""Verbs of a DELETE that deletes no stored thing: it only lets go, hides, or ends something that runs."""


_STANDARD: Final = frozenset("GET HEAD OPTIONS TRACE QUERY POST PUT PATCH DELETE".split())


_KUBERNETES: Final = {
    **dict.fromkeys(("get", "list", "watch", "watchlist"), Category.READ),
    "post": Category.CREATE,
    **dict.fromkeys(("put", "patch"), Category.UPDATE),
    **dict.fromkeys(("delete", "deletecollection"), Category.DELETE),
    "connect": Category.EXECUTE,
}


_ENTITY: Final = re.compile(r"#(create|read|update|delete|list)\b", re.IGNORECASE)


def _declared(operation: Operation) -> tuple[Category, float, str] | None:
    """Return the category that an extension states, with its confidence and the words that state it."""
    extensions = operation.extensions
    declared = extensions.get("x-mcpaql-category")
    if isinstance(declared, str) and declared.upper() in Category.__members__:
        return Category(declared.upper()), 1.0, "x-mcpaql-category"
    action = extensions.get("x-kubernetes-action")
    if isinstance(action, str) and action in _KUBERNETES:
        return _KUBERNETES[action], 0.98, f"x-kubernetes-action: {action}"
    entity = extensions.get("x-speakeasy-entity-operation")
    words = {word.upper() for word in _ENTITY.findall(str(entity))}
    if len(words) == 1:
        word = words.pop()
        return Category("READ" if word == "LIST" else word), 0.95, f"x-speakeasy-entity-operation: {word.lower()}"
    if words == {"CREATE", "UPDATE"}:
        return Category.CREATE, 0.95, "x-speakeasy-entity-operation: create and update"
    return None


def _reading_extension(operation: Operation) -> str | None:
    """Return the extension that says that an operation only reads, whatever its method: read-only, or with pages."""
    for key, value in operation.extensions.items():
        if not value:
            continue
        if key in ("x-readonly", "x-read-only", "x-ms-pageable") or "pagination" in key:
            return key
    return None


def stated(facts: Facts) -> Verdict | None:
    """Believe an extension that states the category, unless it calls a read what may change something."""
    declared = _declared(facts.operation)
    if declared is None or doubted_claim(facts):
        return None
    category, confidence, note = declared
    return Verdict(category, Evidence.METADATA, confidence, note)


def doubted_claim(facts: Facts) -> str:
    """Return why an extension's word for the category is not believed, "" where it is, or where there is none.

    A document may make an operation look worse than its method, and never better: READ is a claim that a PUT, PATCH or
    DELETE contradicts, and that a POST needs words for.
    """
    declared = _declared(facts.operation)
    if declared is not None and _understates(facts, declared[0]):
        return f"{declared[2]} claims {declared[0]}, which {facts.method} contradicts"
    extension = _reading_extension(facts.operation)
    if declared is None and extension and facts.method == "POST" and not _reads_by_words(facts):
        return f"{extension} claims a READ, for which nothing else speaks"
    return ""


def _understates(facts: Facts, category: Category) -> bool:
    """Return True if a category is less than what the method, or a DELETE in the path or the name, stands for."""
    method = facts.method
    if category is Category.READ:
        return method not in SAFE_METHODS and not (method == "POST" and _reads_by_words(facts))
    deleting = any(verb and verb.category is Category.DELETE for verb in (facts.action_verb, facts.named_verb))
    if method == "DELETE":
        return category in (Category.CREATE, Category.UPDATE)
    return deleting and category in (Category.CREATE, Category.UPDATE)


def _reads_by_words(facts: Facts) -> bool:
    """Return True if a name, the path or the summary has a verb that reads; one that computes may act (`test`)."""
    verbs = (facts.action_verb, facts.named_verb, facts.summary_verb)
    return any(verb and verb.category is Category.READ for verb in verbs)


def read_only(facts: Facts) -> Verdict | None:
    """Take a POST for a READ if an extension calls it read-only or pages its answer, and a word says so, too."""
    if facts.method != "POST":
        return None
    extension = _reading_extension(facts.operation)
    verbs = (facts.action_verb, facts.named_verb)
    if any(verb and verb.strong and verb.category is not Category.READ for verb in verbs):
        return None  # `x-readonly` on `send-template`: a mistake that would make the worst of errors
    if not extension or not _reads_by_words(facts):
        return None
    return Verdict(Category.READ, Evidence.METADATA, 0.95, extension)


def custom(facts: Facts) -> Verdict | None:
    """Decide a method outside of OpenAPI (`PURGE`, `SEARCH`) by the verb of its name, but never as READ."""
    if facts.method in _STANDARD:
        return None
    verb = find_verb(facts.method.lower())
    category = verb.category if verb and verb.category is not Category.READ else Category.EXECUTE
    return Verdict(category, Evidence.HEURISTIC, 0.6, f"the method is {facts.method}")


def procedure(facts: Facts) -> Verdict | None:
    """Read the verb of a remote procedure: its path is a name, and its method says nothing."""
    dotted = _is_dotted(facts)
    if facts.method not in ("GET", "POST") or not (facts.shape.procedure or dotted):
        return None
    verb = facts.action_verb or facts.named_verb
    if verb is None or not (verb.strong or facts.method == "POST" or facts.shape.queried):
        return None
    confidence, note = 0.9 if verb.strong else 0.6, f"the procedure's name says {verb.word}"
    if not (facts.shape.queried or dotted or facts.named_verb or facts.summary_verb):  # `/sendMessage` alone
        confidence, note = min(confidence, 0.66), f"the path says {verb.word}, without other evidence"
    if facts.method == "GET" and verb.category is not Category.READ:
        confidence = min(confidence, 0.65)
    return Verdict(verb.category, Evidence.RULE, confidence, note)


def _is_dotted(facts: Facts) -> bool:
    """Return True if the path ends in a dotted name (`chat.postMessage`), not in a file extension."""
    last = facts.operation.path.rsplit("/", 1)[-1].split("{")[0]
    return "." in last and bool(facts.shape.action) and split(last.rsplit(".", 1)[-1]) == facts.shape.action


def safe(facts: Facts) -> Verdict | None:
    """Take GET and other safe methods for a READ, unless the name or the path says that something changes."""
    if facts.method not in SAFE_METHODS:
        return None
    act = sent_act(facts)
    if act is not None:
        verbs = (facts.named_verb, facts.summary_verb)
        is_read = facts.method != "GET" or any(verb and verb.category is Category.READ for verb in verbs)
        category = Category.DELETE if act.verb.word in DELETING and not is_read else Category.READ
        return Verdict(category, Evidence.HEURISTIC, 0.6, f"{facts.method}, but {act.note}", Doubt.CONTRADICTED)
    return doubted_get(facts) or Verdict(Category.READ, Evidence.RULE, 0.98, facts.method)


def doubted_get(facts: Facts) -> Verdict | None:
    """Return the category of a GET whose name, path or text says that it acts; None for any other."""
    if facts.method != "GET":
        return None
    doubt = _get_named_by_change(facts) or _doubted(_told_change(facts) or _change_at_end(facts), 0.66)
    return doubt or _doubted(_marked_change(facts), 0.65)


def _doubted(note: str, sure: float) -> Verdict | None:
    """Return a READ by GET that a note contradicts; None without a note."""
    return Verdict(Category.READ, Evidence.HEURISTIC, sure, f"GET, but {note}", Doubt.CONTRADICTED) if note else None


def _get_named_by_change(facts: Facts) -> Verdict | None:
    verb = facts.named_verb
    if verb is None or not verb.strong or verb.category is Category.READ:
        return None
    believed = verb.word in _CHANGES or verb.word in _ACTS
    category, confidence = (verb.category, 0.55) if believed else (Category.READ, 0.65)
    return Verdict(
        category, Evidence.HEURISTIC, confidence, f"GET, but the document names it {verb.word}", Doubt.CONTRADICTED
    )


def _marked_change(facts: Facts) -> str:
    """Find a parameter that deletes, or the verb of a dotted path."""
    flags = DELETING & {each.name for each in facts.operation.parameters if each.location is Location.QUERY}
    verb = facts.action_verb if _is_dotted(facts) else None
    dotted = f"its path says {verb.word}" if verb and verb.category is not Category.READ else ""
    return f"it has a parameter {min(flags)}" if flags else dotted


def _told_change(facts: Facts) -> str:
    """Read the summary and the text, unless the name has a verb of reading; `get` only repeats the method."""
    named, verb = facts.named_verb, facts.summary_verb
    if named is not None and named.category is Category.READ and named.word != "get":
        return ""
    is_change = verb is not None and verb.category is not Category.READ and verb.word not in _KEEPING
    return f"its text says {verb.word}" if verb and is_change else text_acts(facts)


def _change_at_end(facts: Facts) -> str:
    """Find a verb behind an item (`/keys/{id}/regenerate`), or of a GET without an answer, unless it reads or lists."""
    is_told = any(verb and verb.category is Category.READ for verb in (facts.named_verb, facts.summary_verb))
    path = facts.operation.path
    if is_told or facts.answers_list or path.endswith("}") or not (_BEHIND_ITEM.search(path) or facts.answers_nothing):
        return ""
    return path_acts(facts)


def delete(facts: Facts) -> Verdict | None:
    """Judge a DELETE by its effect: what only lets go or ends something that runs deletes nothing."""
    if facts.method != "DELETE":
        return None
    for verb in (facts.action_verb, facts.named_verb):  # but an operationId that says `delete` stands
        if verb and verb.word in _LETTING_GO and split(facts.operation.operation_id or "")[:1] != ("delete",):
            return Verdict(_effect(verb), Evidence.RULE, 0.68, f"DELETE that only does {verb.word}")
    verb = facts.summary_verb
    if verb and verb.word in _LETTING_GO and not facts.named_verb:
        return Verdict(
            _effect(verb), Evidence.HEURISTIC, 0.66, f"DELETE, but its summary says {verb.word}", Doubt.CONTRADICTED
        )
    many = facts.last_noun is not None and is_plural(facts.last_noun.words)
    if not (facts.named_verb or verb or facts.shape.item or many):
        return Verdict(Category.DELETE, Evidence.RULE, 0.69, "DELETE without an id, and no other evidence")
    return Verdict(Category.DELETE, Evidence.RULE, 0.97, "DELETE")


def _effect(verb: Verb) -> Category:
    return Category.EXECUTE if verb.category is Category.DELETE else verb.category


def patch(facts: Facts) -> Verdict | None:
    """Take a PATCH for an UPDATE, unless its verb starts or ends something."""
    if facts.method != "PATCH":
        return None
    for verb in (facts.action_verb, facts.named_verb):
        if verb and verb.strong and verb.category in (Category.EXECUTE, Category.DELETE):
            return Verdict(verb.category, Evidence.RULE, 0.75, f"PATCH, but named {verb.word}", Doubt.CONTRADICTED)
    return Verdict(Category.UPDATE, Evidence.RULE, 0.97, "PATCH")


def put(facts: Facts) -> Verdict | None:
    """Take a PUT for an UPDATE, unless its name says more or it can only attach one thing to another."""
    if facts.method != "PUT":
        return None
    named, verb = facts.named_verb, facts.summary_verb
    if named and named.strong:
        if named.category is not Category.READ:
            return Verdict(named.category, Evidence.RULE, 0.92, f"the document names it {named.word}")
        is_read = _heads_name(facts, named) and not facts.answers_nothing
        category = Category.READ if is_read else Category.UPDATE
        category = verb.category if verb and verb.category is not Category.READ else category
        return Verdict(
            category, Evidence.HEURISTIC, 0.6, f"PUT, but the document names it {named.word}", Doubt.CONTRADICTED
        )
    if named is None and facts.operation.body is None and _attaches(facts):
        return Verdict(Category.CREATE, Evidence.HEURISTIC, 0.68, "PUT of a member, with nothing to send")
    if verb and named is None and verb.category in (Category.CREATE, Category.EXECUTE):
        return Verdict(verb.category, Evidence.HEURISTIC, 0.68, f"its summary says {verb.word}")
    return Verdict(Category.UPDATE, Evidence.RULE, 0.93, "PUT")


def _heads_name(facts: Facts, verb: Verb) -> bool:
    """Return True if a verb is the first word of the name, behind its namespace."""
    name = facts.operation.operation_id or ""
    return split(re.split(r"[/._]", name)[-1])[:1] == (verb.word,)


def _attaches(facts: Facts) -> bool:
    """Return True if a PUT names a member of a collection and sends nothing: it can only put the two together."""
    return facts.shape.item and len(facts.shape.nouns) > 1 and facts.answers_nothing


_GENERIC: Final = frozenset("post put create update patch set add write".split())
_ITSELF: Final = frozenset("id ids sid key name slug uuid guid code number ref value handle uri url".split())
"""Words of a parameter that identifies an item without naming its kind."""


def action(facts: Facts) -> Verdict | None:
    """Read an action at the path's end (`…/cancel`), unless people gave the operation a verb that says more."""
    verb, named = facts.action_verb, facts.named_verb
    if verb is None or facts.method not in ("POST", "PUT"):
        return None
    if named and named.strong and named.word not in _GENERIC:
        return None
    if named and named.word in ("create", "add", "update", "set") and verb.category is Category.READ:
        return None
    if not (verb.strong or named or facts.shape.item):
        return None
    if facts.shape.action == ("read",) and facts.shape.item:
        return Verdict(Category.UPDATE, Evidence.HEURISTIC, 0.66, f"{facts.method} that marks items as read")
    category = {("PUT", Category.READ): Category.EXECUTE}.get((facts.method, verb.category), verb.category)
    return Verdict(category, Evidence.RULE, 0.93 if verb.strong else 0.75, f"the path ends in {verb.word}")


def named(facts: Facts) -> Verdict | None:
    """Believe the verb that people used; `post` and `put` at its head only repeat the method."""
    verb = facts.named_verb
    if verb is None or not verb.strong or verb.word in ("post", "put"):
        return None
    return Verdict(verb.category, Evidence.RULE, 0.93, f"the document names it {verb.word}")


def weakly_named(facts: Facts) -> Verdict | None:
    """Believe a verb that may be a noun, where nothing stronger speaks; the summary may confirm it."""
    verb = facts.named_verb
    if verb is None or verb.word in ("post", "put"):
        return None
    if split(facts.operation.summary[:60])[:1] == (verb.word,):
        return Verdict(verb.category, Evidence.RULE, 0.85, f"its name in the document and its summary say {verb.word}")
    return Verdict(verb.category, Evidence.HEURISTIC, 0.66, f"the document names it {verb.word}")


def summary(facts: Facts) -> Verdict | None:
    """Believe the verb at the head of the summary."""
    verb, last = facts.summary_verb, facts.last_noun
    if verb is None:
        return None
    adding = last is not None and not last.parameters and is_plural(last.words) and not facts.shape.action
    if adding and verb.category not in (Category.CREATE, Category.READ):
        note = f"its summary says {verb.word}, on POST of a collection"
        return Verdict(verb.category, Evidence.HEURISTIC, 0.68, note)
    return Verdict(verb.category, Evidence.RULE, 0.8, f"its summary says {verb.word}")


def spoken_action(facts: Facts) -> Verdict | None:
    """Take a path's end for an action if the name or the summary begins with it (`…/stage`, "Stages a release")."""
    if facts.spoken_action is None:
        return None
    word, category = facts.spoken_action
    return Verdict(category, Evidence.HEURISTIC, 0.72, f"its path and its name in the document have {word}")


def on_item(facts: Facts) -> Verdict | None:
    """Take a POST on one item for its UPDATE; where the path ends in the owner of the new thing, for a CREATE."""
    last = facts.last_noun
    if not last or not last.parameters or last.words in last.parameters or facts.shape.action:
        return None
    kind = {word for word in last.parameters[-1] if word not in _ITSELF}
    if kind and not kind & {*last.words, *last.one}:  # `/policies/{projectId}`
        return Verdict(Category.CREATE, Evidence.HEURISTIC, 0.6, f"POST beside the {' '.join(last.parameters[-1])}")
    return Verdict(Category.UPDATE, Evidence.HEURISTIC, 0.66, "POST on one item")


def collection(facts: Facts) -> Verdict | None:
    """Take a POST on a collection for a CREATE."""
    last = facts.last_noun
    if not last or not is_plural(last.words):
        return None
    return Verdict(Category.CREATE, Evidence.RULE, 0.85, "POST on a collection")


def method_only(facts: Facts) -> Verdict:
    """Decide what no other rule decides."""
    verb = facts.action_verb
    if facts.shape.action and (verb is None or facts.shape.item):
        category = verb.category if verb else Category.EXECUTE
        return Verdict(category, Evidence.HEURISTIC, 0.6, f"the path ends in {facts.shape.action[0]}")
    if facts.shape.nouns or verb:
        return Verdict(Category.CREATE, Evidence.HEURISTIC, 0.6, f"{facts.method} with no verb")
    return Verdict(Category.EXECUTE, Evidence.HEURISTIC, 0.5, f"{facts.method} with no verb and no noun")
