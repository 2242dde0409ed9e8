"""What an adapter element says of the API as a whole: where it is, its version, its title."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from aqlgen.document.element.reader import Node, Reader

__all__ = ["read_base_url", "read_title", "read_version"]

_SEMVER: Final = re.compile(
    r"(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})(?:-[0-9A-Za-z.-]{1,100})?(?:\+[0-9A-Za-z.-]{1,100})?"
)
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def read_base_url(reader: Reader, node: Node | None) -> str:
    """Return the address of the API; report what is none, and warn of one without encryption."""
    if node is None or not reader.is_readable(node):
        return ""
    url = str(node.value).strip()
    expected = "an address such as https://api.example.com/v1"
    try:
        parts = urlsplit(url)
        host, credentials = parts.hostname or "", parts.username is not None or parts.password is not None
        parts.port  # noqa: B018 - raises ValueError for what is no port
    except ValueError:
        host, credentials, parts = "", False, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or " " in url or "{" in url or "\\" in url:
        reader.bad_value(node, expected, "Begin with https:// and the host of the API.")
    elif credentials or parts.query or parts.fragment:
        reader.report(
            "schema-invalid-value",
            node,
            f"{node.path} must be an address without user name, query and fragment",
            expected=expected,
            actual="an address with more",
            suggestion="Credentials belong into environment variables, a query into maps_to.",
        )
    elif parts.scheme == "http" and host not in _LOOPBACK and not host.startswith("127."):
        hint = "Write https://, unless the API is on this machine or for development."
        reader.unused(node, f"{node.path} is not encrypted", hint)
    if url.endswith("/"):
        reader.unused(node, f"{node.path} ends with a slash, which is left out", "Write it without.")
    return url.rstrip("/")


def read_version(reader: Reader, node: Node | None) -> None:
    """Report a version that is not semantic."""
    if node is not None and not _SEMVER.fullmatch(node.value):
        reader.bad_value(node, "three numbers with dots between (Semantic Versioning)", 'Write `version: "1.0.0"`.')


def read_title(name: str) -> str:
    """Return a title for an adapter that has only a name."""
    words = re.sub(r"[-_]?adapter$", "", name).replace("_", "-").split("-")
    return " ".join(word.capitalize() for word in words if word) or "API"
