"""Names that a generator made of the method and the path: they say nothing that the path does not say."""

from __future__ import annotations

from aqlgen.decisions import Category
from aqlgen.words import singular, split

from .shape import shape
from .verbs import leading

__all__ = ["fixed_words", "repeats", "without_path"]


def fixed_words(path: str, method: str) -> tuple[str, ...]:
    """Give the words of a path's nouns and of its action, without its parameters."""
    read = shape(method, path)
    return tuple(word for noun in read.nouns for word in noun.words) + read.action


def repeats(words: tuple[str, ...], method: str, path: str) -> bool:
    """Whether the name is only the method and all that stands in the path (`get_files_id_comments`)."""
    verb = method.lower()
    if verb not in (words[0], words[-1]):
        return _adds(words, method, path)
    rest = words[1:] if words[0] == verb else words[:-1]
    literals = {singular(word) for word in fixed_words(path, method)}
    every = literals | {singular(word) for word in split(path)} | {"by", "id", "params", "s"}
    given = {singular(word) for word in rest}
    return (
        bool(given)
        and literals <= given <= every
        and (verb in ("post", "put") or len(literals) + (verb == words[-1]) > 1)
    )


def _adds(words: tuple[str, ...], method: str, path: str) -> bool:
    """Whether `create` or `add` stands for POST before the path: `createUserChangePassword` of `/user/change-password`.

    It says nothing where the path ends in an action.
    """
    action = shape(method, path).action
    found = leading(action)
    if method.upper() != "POST" or found is None or words[0] not in ("create", "add"):
        return False
    if found[0].category is Category.READ and len(action) > 1:
        return False  # a `checkItem` is a thing
    literals = fixed_words(path, method)
    by = next((at for at, word in enumerate(words) if word == "by"), len(words))
    return words[1:by] in (literals, action) or _singular_words(words[1:by]) == _singular_words(literals)


def _singular_words(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(singular, words))


def without_path(words: tuple[str, ...], method: str, path: str) -> tuple[str, ...]:
    """Cut what FastAPI appends to a function's name: the path and the method."""
    if words[-1:] != (method,) or len(words) < 3:
        return words
    inside = split(path)
    for size in range(len(inside), 0, -1):
        if words[-1 - size : -1] == inside[-size:] and len(words) - 1 - size >= 1:
            return words[: -1 - size]
    return words
