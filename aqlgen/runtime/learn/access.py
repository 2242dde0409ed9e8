# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Where the API is, and which credential its reads want, as the API answers with it, with a wrong one and without.

A wrong credential is a random text in place of the owner's; two reads send one at most, so that no account is locked.
"""

from __future__ import annotations

import secrets as random
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from ..schema import MISSING
from ..wire import media_type
from .model import CHALLENGES, Fact, Observation
from .reads import Read, read_json

if TYPE_CHECKING:
    from ..table import Adapter, Row, Table
    from ..wire import ApiRequest, ApiResponse
    from .model import Requests

__all__ = ["observe_address", "observe_carriers", "observe_credentials"]

_MOST_PUBLIC: Final = 20
_MOST_WRONG: Final = 2
_MOST_ADDRESSES: Final = 4
_REFUSED: Final = (401, 403)
_PREFIXES: Final = ("Bearer", "Token")


async def observe_address(requests: Requests, adapter: Adapter, reads: Sequence[Read]) -> list[Observation]:
    """Try the paths of the declared servers at the API's own origin, where every read misses what it is to read."""
    if len(reads) < 2 or not all(_misses(read) for read in reads):
        return []
    servers = [server for part in adapter.of_each_api().values() for server in part.servers]
    paths = dict.fromkeys(urlsplit(server["url"]).path.rstrip("/") for server in servers if "{" not in server["url"])
    read = reads[0]
    for path in list(dict.fromkeys((*paths, "")))[:_MOST_ADDRESSES]:
        changed: list[str] = []
        response = await requests.send(read.row, read.params, change=_at_path(read.row, path, changed))
        if changed and response is not None and response.status < 300 and read_json(response) is not MISSING:
            says = (
                f"reads answer at the path {path or '/'} of the API, not at the one that is set: set MCP_AQL_BASE_URL"
            )
            return [Observation("", Fact.ADDRESS, says)]
    return []


def _misses(read: Read) -> bool:
    """Return True for an answer of another place: nothing is there, or a page for people."""
    kind = "" if read.response is None else media_type(read.response.headers.get("content-type", ""))
    return read.status == 404 or (read.success and kind == "text/html")


def _at_path(row: Row, path: str, changed: list[str]) -> Callable[[ApiRequest], ApiRequest]:
    def change(request: ApiRequest) -> ApiRequest:
        parts = urlsplit(request.url)
        depth = row.path.partition("?")[0].strip("/").count("/") + 1
        below = "/".join(parts.path.split("/")[-depth:])
        if f"{path}/{below}" == parts.path:
            return request
        changed.append(path)
        return replace(request, url=parts._replace(path=f"{path}/{below}").geturl())

    return change


async def observe_credentials(requests: Requests, adapter: Adapter, reads: Sequence[Read]) -> list[Observation]:
    """Return which reads answer without the credential, and what one that is wrong or missing gets."""
    observations: list[Observation] = []
    wanting: list[Read] = []
    carrying = [read for read in reads if read.carried]
    for read in [read for read in carrying if read.success][:_MOST_PUBLIC]:
        answer = await requests.send(read.row, read.params, carries=False)
        alternatives = _alternatives(adapter, read.row)
        stated = [_entry(names) for names in alternatives if names]
        if answer is not None and answer.status in _REFUSED:
            wanting.append(read)
            says = f"HTTP {answer.status} without the credential, HTTP {read.status} with it"
            settled = () not in alternatives
            observations.append(Observation(read.row.key, Fact.CREDENTIAL, says, {"security": stated}, settled=settled))
        elif answer is not None and _is_alike(answer, read):
            says = f"HTTP {read.status} and data of the same kind with the credential and without"
            public = {"security": [*stated, {}]}
            settled = () in alternatives
            observations.append(Observation(read.row.key, Fact.CREDENTIAL, says, public, settled=settled))
    for read in wanting[:_MOST_WRONG]:
        observations += await _wrong(requests, read)
    unsent = [read for read in reads if read.status in _REFUSED and not _alternatives(adapter, read.row)]
    for read in unsent if adapter.security_schemes else unsent[:1]:
        observations += await _unsent(requests, adapter, read)
    if carrying and all(read.status in _REFUSED for read in carrying):
        observations += await _prefix(requests, adapter, carrying[0])
    return observations


def observe_carriers(adapter: Adapter, table: Table, seen: Sequence[Observation]) -> Iterator[Observation]:
    """Yield the operations that carry others, with the credential that those were seen to want and they do not send."""
    settled = [each for each in seen if each.fact is Fact.CREDENTIAL and each.settled]
    wanted = [each for each in settled if {} not in each.override.get("security", [{}])]
    for name, family in table.names() if wanted else ():
        row = table.find(name, family)
        if row is not None and row.carries is not None and not any(_alternatives(adapter, row)):
            says = f"it carries calls as that of {wanted[0].key}, which gets {wanted[0].says}"
            yield Observation(row.key, Fact.CREDENTIAL, says, dict(wanted[0].override))


def _alternatives(adapter: Adapter, row: Row) -> tuple[tuple[str, ...], ...]:
    return adapter.of_api(row.api).security if row.security is None else row.security


def _entry(names: Sequence[str]) -> Any:
    """Return a requirement as overrides.yaml has it."""
    schemes = [name.rpartition(":")[2] for name in names]
    return schemes[0] if len(schemes) == 1 else {name: [] for name in schemes}


def _is_alike(answer: ApiResponse, read: Read) -> bool:
    """Return True for an answer of the same status and kind: the same media type, and the same form of data."""
    response = read.response
    if response is None or answer.status != read.status:
        return False
    kinds = [media_type(each.headers.get("content-type", "")) for each in (answer, response)]
    return kinds[0] == kinds[1] and _form(read_json(answer)) == _form(read.data)


def _form(data: Any) -> Any:
    """Return the names of an object, or of a list's first item, and whether it is empty."""
    if isinstance(data, list):
        return ["list", *(sorted(item) for item in data[:1] if isinstance(item, dict)), bool(data)]
    return sorted(data) if isinstance(data, dict) else type(data).__name__


async def _wrong(requests: Requests, read: Read) -> list[Observation]:
    """Send a wrong credential where a request holds one; one that is had from elsewhere is left alone."""
    sent: list[bool] = []

    def change(request: ApiRequest) -> ApiRequest:
        name = random.token_hex(6)
        random_text = b64encode(f"{name}:{name[1:]}".encode()).decode()  # a name with a password is one, too
        texts = sorted((text for text in request.secrets if len(text) > 3), key=len, reverse=True)

        def replaced(text: str) -> str:
            for secret in texts:
                text = text.replace(secret, random_text)
            return text

        headers = tuple((name, replaced(value)) for name, value in request.headers)
        query = replaced(urlsplit(request.url).query)
        changed = replace(request, headers=headers, url=urlsplit(request.url)._replace(query=query).geturl())
        sent.append(changed != request and "pending-" not in str(request.headers))
        return changed

    answer = await requests.send(read.row, read.params, change=change)
    if answer is None or sent[-1:] != [True]:
        return []
    return [Observation(read.row.key, Fact.CREDENTIAL, f"a wrong credential gets HTTP {answer.status}")]


async def _unsent(requests: Requests, adapter: Adapter, read: Read) -> list[Observation]:
    """Send the credential where the document asks for none, and the API refuses the read without."""
    part = adapter.of_api(read.row.api)
    if not part.security_schemes:
        return [_challenged(read)]
    if read.row.servers:
        return []  # a credential is for the API's own address
    for names in (part.security or tuple((name,) for name in part.security_schemes))[:_MOST_WRONG]:
        answer = await requests.send(replace(read.row, security=(names,)), read.params) if names else None
        if answer is not None and 200 <= answer.status < 300:
            says = f"HTTP {read.status} without a credential, HTTP {answer.status} with it"
            return [Observation(read.row.key, Fact.CREDENTIAL, says, {"security": [_entry(names)]})]
    return []


def _challenged(read: Read) -> Observation:
    """Return what an API asks for whose document knows no credential: the scheme that it names, if it names one."""
    asked = "" if read.response is None else read.response.headers.get("www-authenticate", "").partition(" ")[0].lower()
    says = f"HTTP {read.status} for {read.row.key} without a credential, and the document names none: declare one"
    if asked not in CHALLENGES or read.row.api:
        return Observation("", Fact.CREDENTIAL, says)
    name = CHALLENGES[asked]
    stated = {"security_schemes": {name: {"type": "http", "scheme": asked}}, "security": [name]}
    return Observation("", Fact.CREDENTIAL, f"{says} ({asked})", stated, certain=False)


async def _prefix(requests: Requests, adapter: Adapter, read: Read) -> list[Observation]:
    """Write words before a key in the header Authorization, where the key alone is refused."""
    names = [name for alternative in _alternatives(adapter, read.row) for name in alternative]
    scheme = adapter.security_schemes.get(names[0], {}) if len(names) == 1 else {}
    is_key = (scheme.get("type"), scheme.get("in")) == ("apiKey", "header") and not scheme.get("format")
    header = str(scheme.get("name", ""))
    if read.row.api or not is_key or header.lower() != "authorization":
        return []
    for word in _PREFIXES:
        answer = await requests.send(read.row, read.params, change=_with_word(word))
        if answer is not None and 200 <= answer.status < 300:
            says = f"HTTP {read.status} for the key alone, HTTP {answer.status} for {word} before it"
            stated = {"type": "apiKey", "in": "header", "name": header, "description": f"Authorization: {word} <key>"}
            return [Observation("", Fact.CREDENTIAL, says, {"security_schemes": {names[0]: stated}})]
    return []


def _with_word(word: str) -> Callable[[ApiRequest], ApiRequest]:
    def headers(request: ApiRequest) -> Iterator[tuple[str, str]]:
        for name, value in request.headers:
            yield name, f"{word} {value}" if name.lower() == "authorization" else value

    return lambda request: replace(request, headers=tuple(headers(request)))
