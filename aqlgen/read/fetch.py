"""Getting the bytes of a document: from a file, an http(s) URL, or standard input."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from aqlgen import __version__
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.errors import DocumentError, FileError

_REDIRECTS = 10


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds against hostile or mistaken input: bytes, values with aliases expanded, nesting, seconds for a URL."""

    size: int = 64 * 1024 * 1024
    nodes: int = 5_000_000
    depth: int = 256
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes with the name to show for them and the place they came from."""

    name: str
    data: bytes
    base: Path | str | None


def fetch(spec: str, limits: Limits) -> Raw:
    """Read what `spec` names. Raises FileError, or DocumentError when it is empty or over the size bound."""
    if spec == "-":
        raw = Raw("<stdin>", sys.stdin.buffer.read(limits.size + 1), None)
    elif spec.lower().startswith(("http://", "https://")):
        raw = _from_url(spec, limits)
    else:
        raw = _from_file(spec, limits)
    if len(raw.data) > limits.size:
        raise _too_large(raw.name, limits)
    if not raw.data.strip():
        raise DocumentError.of("empty-document", "the document is empty", file=raw.name)
    return raw


def _too_large(name: str, limits: Limits) -> DocumentError:
    message = f"the document is larger than {limits.size // (1024 * 1024)} MiB"
    return DocumentError(Diagnostic("document-too-large", Severity.ERROR, message, file=name))


def _from_file(spec: str, limits: Limits) -> Raw:
    path = Path(spec)
    try:
        with path.open("rb") as file:
            data = file.read(limits.size + 1)
    except IsADirectoryError:
        raise FileError.of(
            "file-is-a-folder", "this is a folder, not a file", file=spec, help="Name the root document inside it."
        ) from None
    except FileNotFoundError:
        scheme = spec.partition("://")[0] if "://" in spec else ""
        advice = f"Only http and https addresses can be read, not {scheme}." if scheme else "Check the path."
        raise FileError.of("file-not-found", "no such file", file=spec, help=advice) from None
    except ValueError:
        raise FileError.of("file-not-found", "not a possible file name", file=spec) from None
    except OSError as error:
        raise FileError.of("file-unreadable", f"cannot be read: {error.strerror or error}", file=spec) from None
    return Raw(spec, data, path.resolve())


def _from_url(spec: str, limits: Limits) -> Raw:
    import httpx2  # here, since only URLs should pay for importing it

    name = without_credentials(spec)
    headers = {
        "accept": "application/vnd.oai.openapi+json, application/json, application/yaml;q=0.9, */*;q=0.5",
        "user-agent": f"aqlgen/{__version__}",
    }
    deadline = time.monotonic() + limits.seconds
    timeout = httpx2.Timeout(min(30.0, limits.seconds), connect=min(10.0, limits.seconds))
    try:
        with (
            httpx2.Client(timeout=timeout, follow_redirects=True, max_redirects=_REDIRECTS, headers=headers) as client,
            client.stream("GET", spec) as response,
        ):
            if not response.is_success:
                raise _refused(name, response.status_code, response.reason_phrase)
            data = bytearray()
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > limits.size:
                    raise _too_large(name, limits)
                if time.monotonic() > deadline:
                    raise _unreachable(name, f"not finished after {limits.seconds:g} seconds")
            return Raw(name, bytes(data), without_credentials(str(response.url)))
    except httpx2.TooManyRedirects:
        raise _unreachable(name, f"more than {_REDIRECTS} redirects") from None
    except httpx2.TimeoutException:
        raise _unreachable(name, "no answer in time") from None
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise _unreachable(name, f"not a usable address: {error}") from None
    except httpx2.HTTPError as error:
        raise _unreachable(name, str(error) or type(error).__name__) from None


def without_credentials(url: str) -> str:
    """Return the URL as it may be shown and stored: without user name and password."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _refused(name: str, status: int, reason: str) -> FileError:
    advice = "It wants credentials: download it and give the file." if status in (401, 403) else ""
    return _unreadable(name, f"the server answered {status} {reason}".rstrip(), advice)


def _unreachable(name: str, problem: str) -> FileError:
    return _unreadable(name, f"cannot be fetched: {problem}")


def _unreadable(name: str, message: str, advice: str = "") -> FileError:
    return FileError(Diagnostic("url-unreadable", Severity.ERROR, message, file=name, help=advice))
