# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The one place that decides to which origins requests go: to those that the owner accepted, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import Code, Failure
from .accepted import accepted_of, filled
from .origin import Origin, yaml_entry

if TYPE_CHECKING:
    from ..table import Adapter

__all__ = ["Hosts", "refused"]


class Hosts:
    """The accepted origins of an adapter.

    `base_url` and `chosen`, values of servers' variables, are the owner's settings; `settings` returns the addresses of
    authorization servers that the owner has set.
    """

    def __init__(
        self,
        adapter: Adapter,
        base_url: str | None = None,
        chosen: Mapping[str, str] | None = None,
        settings: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._adapter = adapter
        self._base_url = base_url
        self._chosen = chosen or {}
        self._settings = settings

    def admit(self, url: str) -> None:
        """Let a request to the API pass. Raises Failure (PERMISSION_DENIED) for an origin that is not accepted."""
        if url.startswith(self._prefixes):
            return
        origin = Origin.of(url)
        if origin is None or origin not in self._api:
            raise refused(origin)

    def admit_authorization(self, url: str) -> None:
        """Let a request to an authorization server pass. Raises Failure (PERMISSION_DENIED)."""
        origin = Origin.of(url)
        if origin is not None and (origin in self._api or origin in self._oauth):
            return
        if origin is None or origin not in _origins(self._settings()):
            raise refused(origin)

    def is_owners(self, url: str) -> bool:
        """Return True if the owner named the origin of a URL, in `overrides.yaml` or in the settings."""
        origin = Origin.of(url)
        return origin is not None and origin in self._owners

    @cached_property
    def _owners(self) -> frozenset[Origin]:
        named = accepted_of(self._adapter).get("hosts", ())
        return _origins([*named, *([self._base_url.strip()] if self._base_url else ())])

    @cached_property
    def _api(self) -> frozenset[Origin]:
        patterns = accepted_of(self._adapter).get("api", ())
        generated = (filled(pattern, values) for pattern in patterns for values in ({}, self._chosen))
        return self._owners | {origin for origin in generated if origin is not None}

    @cached_property
    def _oauth(self) -> frozenset[Origin]:
        return _origins(accepted_of(self._adapter).get("oauth", ()))

    @cached_property
    def _prefixes(self) -> tuple[str, ...]:
        """The beginnings of URLs whose origin is accepted: with the slash, nothing behind them changes it."""
        return tuple(f"{origin}/" for origin in self._api)


def refused(origin: Origin | None) -> Failure:
    """Build the refusal of an origin; it names the host and the entry that accepts it."""
    if origin is None:
        reason = "its address in the API's document is of a form to which no request is sent"
        return Failure(Code.PERMISSION_DENIED, f"Permission denied: {reason}. Nothing was sent.", {"reason": reason})
    reason = f"the adapter's owner has not accepted the host '{origin.place}'"
    entry = f"adapter: {{hosts: [{yaml_entry(origin.entry)}]}}"
    return Failure(
        Code.PERMISSION_DENIED,
        f"Permission denied: {reason}. Nothing was sent. If requests and credentials may go there, the owner adds "
        f"'{entry}' to overrides.yaml and runs `aqlgen update`.",
        {"reason": reason, "host": origin.place, "origin": str(origin), "overrides": entry},
    )


def _origins(urls: Iterable[str]) -> frozenset[Origin]:
    return frozenset(origin for url in urls if (origin := Origin.of(url)) is not None)
