# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What a request says when it is read as the API reads it: its body, its form and its query, by the API's names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from ...errors import Failure
from ...exact_json import ExactFloat
from ...media import FORM, is_json, media_type
from .patches import patched
from .values import MISSING, Spellings, joined, spelled, walk

if TYPE_CHECKING:
    from ...wire import ApiRequest

__all__ = ["Sent"]


class Sent(NamedTuple):
    """The decoded parts of a request."""

    body: Any
    pairs: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, build: Callable[[], ApiRequest]) -> Sent | None:
        """Return what a request says; None for one that cannot be made, and so is not sent."""
        try:
            request = build()
        except Failure:
            return None
        pairs = parse_qsl(request.url.partition("?")[2], keep_blank_values=True)
        kind = next((value for name, value in request.headers if name.lower() == "content-type"), "")
        body: Any = None
        try:
            if request.content is not None and is_json(kind):
                body = json.loads(request.content)
            elif request.content is not None and media_type(kind) == FORM:
                pairs += parse_qsl(request.content.decode(), keep_blank_values=True)
        except (ValueError, RecursionError):
            body = None
        return cls(body, pairs)

    def values(self, path: Sequence[Spellings], known: Sequence[Any], *, of_lists: bool) -> Iterator[Any]:
        """Yield the values at a path besides those that are `known` from the parameters."""
        if self.body is not None and not isinstance(self.body, str | int | float):
            for value in walk(self.body, path, of_lists=of_lists):
                if value is not MISSING:
                    yield value
            yield from patched(self.body, path, of_lists=of_lists)
        names = joined(tuple(path))
        texts = [text for name, text in self.pairs if spelled(name) in names]
        if len(texts) > 1 or not known:
            written = {text for value in known for text in _texts(value)}
            more = [text for text in texts if text not in written]
            yield from [texts] if of_lists and more else more


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, ExactFloat):
        yield value.text
    else:
        yield value if isinstance(value, str) else json.dumps(value, default=str)
