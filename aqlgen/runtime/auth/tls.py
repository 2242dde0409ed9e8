"""The client's certificate for mutual TLS (OpenAPI 3.1, security scheme type mutualTLS; RFC 8705)."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterable

from ..errors import Code, Failure
from ..settings.load import Variables
from ..table import Adapter

_SHORTEST_LINE = 16


class ClientTls:
    """A TLS context with the certificate and the key of the owner's variables, loaded again when their files change.

    A variable holds PEM text, or the path of a file with it.
    """

    def __init__(self, variables: Variables, names: tuple[str, str], password: str) -> None:
        self._variables = variables
        self._names = names
        self._password = password
        self._loaded: tuple[str | None, ...] | None = None
        import httpx2

        self.context: ssl.SSLContext = httpx2.create_ssl_context()

    @classmethod
    def of(cls, adapter: Adapter, variables: Variables) -> ClientTls | None:
        """Return the context of the first scheme whose certificate is set; None when there is none."""
        for scheme in adapter.security_schemes.values():
            names = scheme.get("variables", ())
            if scheme.get("type") == "mutualTLS" and len(names) == 2 and variables.value(names[0]):
                password = scheme.get("optional_variables", {}).get("key_password", "")
                return cls(variables, (names[0], names[1]), password)
        return None

    def refresh(self) -> None:
        """Load changed files. Raises Failure (PERMISSION_DENIED) if they lack a certificate with its key."""
        values = tuple(self._variables.value(name) for name in (*self._names, self._password) if name)
        if values == self._loaded:
            return
        certificate, key = (_pem(self._variables.value(name) or "") for name in self._names)
        password = self._variables.value(self._password) if self._password else None
        try:
            _load(self.context, certificate, key, password or "")
        except (OSError, ValueError):
            named = " and ".join(self._names)
            raise Failure(
                Code.PERMISSION_DENIED,
                f"Permission denied: {named} contain no certificate with its key in PEM form, or the password is "
                "wrong.",
                {"reason": "the client's certificate cannot be loaded", "missing": []},
            ) from None
        self._loaded = values


def key_lines(variables: Variables, names: Iterable[str]) -> list[str]:
    """Return the lines of the private key among some variables, which nobody may see."""
    lines: list[str] = []
    for name in names:
        _, mark, key = _pem(variables.value(name) or "").decode("ascii", "replace").partition("PRIVATE KEY-----")
        lines += [line for line in key.partition("-----")[0].split() if mark and len(line) >= _SHORTEST_LINE]
    return lines


def _pem(value: str) -> bytes:
    """Return the PEM text of a value, which may be a path."""
    if not value or "-----BEGIN" in value:
        return value.encode()
    try:
        with open(value, "rb") as file:
            return file.read(1024 * 1024)
    except (OSError, ValueError):
        return b""


def _load(context: ssl.SSLContext, certificate: bytes, key: bytes, password: str) -> None:
    """Load a certificate and its key; the library takes files only, so that they stand in one for a moment."""
    handle, path = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(certificate + b"\n" + key)
        context.load_cert_chain(path, password=lambda: password)
    finally:
        os.unlink(path)
