"""Names of functions inside operationIds: FastAPI appends the path and the method to the name of the author's function.

`fastapi.utils.generate_unique_id` writes the function's name and the path with `_` for every sign, then `_` and the
method in lower case. The suffix is recognised by writing it again, so no list of paths or prefixes is needed. FastAPI's
documentation on generating clients has another form: the first tag, `-` and the function's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from aqlgen.words import split

__all__ = ["function_name"]

_METHODS: Final = "get put post delete patch head options trace".split()
"""All of them, since a route of several methods has one operationId, with the method that came first."""
_SIGNS: Final = re.compile(r"\W")
_FUNCTION: Final = re.compile(r"[a-z_][a-z0-9]*_[a-z0-9_]+")
_RESIDUE: Final = re.compile(r"v\d+|apis?")


@lru_cache(maxsize=16384)
def function_name(operation_id: str, path: str, tag: str) -> str:
    """Return the name of the function; "" if the operationId has no such suffix, and not the first tag before it.

    A gateway may have put segments before the path since: then its end is enough, unless what stands before that is
    only more of the path.
    """
    tagged = operation_id.removeprefix(f"{tag}-")
    if tagged != operation_id and _FUNCTION.fullmatch(tagged):
        return tagged
    body, _, method = operation_id.rpartition("_")
    if method not in _METHODS or _SIGNS.search(body):
        return ""
    route = set(split(path))
    for suffix in _suffixes(path):
        name = body.removesuffix(suffix)
        if name in ("", body) or not split(name):
            continue
        more = any(word not in route and not _RESIDUE.fullmatch(word) for word in split(name))
        return name if more or len(suffix) == len(path) else ""
    return ""


def _suffixes(path: str) -> Iterator[str]:
    """Yield a path and its ends from each literal segment on, with `_` for their signs, the longest first."""
    for slash in re.finditer("/", path):
        end = path[slash.start() :]
        if slash.start() == 0 or re.match(r"/\w", end):
            yield _SIGNS.sub("_", end)
