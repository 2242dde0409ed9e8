"""Where the API is, and which credential its reads want, as the API answers with it, with a wrong one and without.

A wrong credential is a random text in place of the owner's; two reads send one at most, so that no account is locked.
"""

from __future__ import annotations

import secrets as random
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
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
    from .requests import AdapterRequests

_MOST_PUBLIC: Final = 20
_MOST_WRONG: Final = 2
_MOST_ADDRESSES: Final = 4
_REFUSED: Final = (401, 403)
_PREFIXES: Final = ("Bearer", "Token")


async def observe_address(requests: AdapterRequests, reads: Sequence[Read]) -> AsyncIterator[Observation]:
    """Try the paths of the declared servers at the API's own origin, where every read misses what it is to read."""
    if len(reads) < 2 or not all(_misses(read) for read in reads):
        return
    servers = [server for part in requests.adapter.of_each_api().values() for server in part.servers]
    paths = dict.fromkeys(urlsplit(server["url"]).path.rstrip("/") for server in servers if "{" not in server["url"])
    read = reads[0]
    for path in list(dict.fromkeys((*paths, "")))[:_MOST_ADDRESSES]:
        changed: list[str] = []
        response = await requests.send(read.row, read.params, change=_at_path(read.row, path, changed))
        if changed and _succeeds(response) and read_json(response) is not MISSING:
            at = f"reads answer at the path {path or '/'} of the API"
            yield Observation("", Fact.ADDRESS, f"{at}, not at the one that is set: set MCP_AQL_BASE_URL")
            return


def _succeeds(response: ApiResponse | None) -> bool:
    return response is not None and 200 <= response.status < 300


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


async def observe_public(requests: AdapterRequests, reads: Sequence[Read]) -> AsyncIterator[Observation]:
    """Yield the reads that answer without the credential, the answer to a wrong one, and the carriers of such calls."""
    wanted: list[Observation] = []
    for read in [read for read in reads if read.carried and read.success][:_MOST_PUBLIC]:
        seen = _without(requests.adapter, read, await requests.send(read.row, read.params, carries=False))
        if seen is None:
            continue
        yield seen
        if {} not in seen.override["security"]:
            wanted.append(seen)
            if len(wanted) <= _MOST_WRONG and (refusal := await _wrong(requests, read)) is not None:
                yield refusal
    for seen in of_carriers(requests.adapter, requests.table, wanted):
        yield seen


async def observe_unsent(requests: AdapterRequests, reads: Sequence[Read]) -> AsyncIterator[Observation]:
    """Yield the reads that want an undeclared credential, the form of a key, and credentials missing or refused."""
    if requests.missing:
        says = f"reads were not sent, because these variables are not set: {', '.join(requests.missing)}"
        yield Observation("", Fact.CREDENTIAL, says)
    unsent = [read for read in reads if read.status in _REFUSED and not _alternatives(requests.adapter, read.row)]
    for read in unsent if requests.adapter.security_schemes else unsent[:1]:
        if (seen := await _unsent(requests, read)) is not None:
            yield seen
    carrying = [read for read in reads if read.carried]
    if carrying and all(read.status in _REFUSED for read in carrying):
        says = f"HTTP {carrying[0].status} for every read with the credential: the API does not accept it"
        yield await _prefix(requests, carrying[0]) or Observation("", Fact.CREDENTIAL, says)


def _without(adapter: Adapter, read: Read, answer: ApiResponse | None) -> Observation | None:
    """Return the observation of the answer to a read without the credential, None where it says nothing."""
    alternatives = _alternatives(adapter, read.row)
    stated = [_entry(names) for names in alternatives if names]
    if answer is not None and answer.status in _REFUSED:
        says = f"HTTP {answer.status} without the credential, HTTP {read.status} with it"
        is_settled, override = () not in alternatives, stated
    elif answer is not None and _is_alike(answer, read):
        says = f"HTTP {read.status} and data of the same kind with the credential and without"
        is_settled, override = () in alternatives, [*stated, {}]
    else:
        return None
    return Observation(read.row.key, Fact.CREDENTIAL, says, {"security": override}, settled=is_settled)


def of_carriers(adapter: Adapter, table: Table, seen: Sequence[Observation]) -> Iterator[Observation]:
    """Yield the operations that carry others, with the credential that those were seen to want and they do not send."""
    wanted = [each for each in seen if each.settled and {} not in each.override["security"]]
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


async def _wrong(requests: AdapterRequests, read: Read) -> Observation | None:
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
        return None
    return Observation(read.row.key, Fact.CREDENTIAL, f"a wrong credential gets HTTP {answer.status}")


async def _unsent(requests: AdapterRequests, read: Read) -> Observation | None:
    """Send the credential where the document asks for none, and the API refuses the read without."""
    part = requests.adapter.of_api(read.row.api)
    if not part.security_schemes:
        return await _undeclared(requests, read)
    if read.row.servers:
        return None  # a credential is for the API's own address
    for names in (part.security or tuple((name,) for name in part.security_schemes))[:_MOST_WRONG]:
        answer = await requests.send(replace(read.row, security=(names,)), read.params) if names else None
        if answer is not None and _succeeds(answer):
            says = f"HTTP {read.status} without a credential, HTTP {answer.status} with it"
            return Observation(read.row.key, Fact.CREDENTIAL, says, {"security": [_entry(names)]})
    return None


async def _undeclared(requests: AdapterRequests, read: Read) -> Observation:
    """Return the form in which an API takes the owner's key whose document knows no credential, or asks for one."""
    forms = {} if read.row.api or read.row.servers else _forms(requests.key)
    for name, (scheme, word, key) in forms.items():
        answer = await requests.send(read.row, read.params, change=_authorized(word, key))
        if answer is not None and _succeeds(answer):
            says = f"HTTP {read.status} for {read.row.key} without a credential, HTTP {answer.status} with the key"
            stated = {"security_schemes": {name: scheme}, "security": [name]}
            return Observation("", Fact.CREDENTIAL, f"{says} as {word}", stated)
    asked = "" if read.response is None else read.response.headers.get("www-authenticate", "").partition(" ")[0].lower()
    says = f"HTTP {read.status} for {read.row.key} without a credential, and the document declares none: declare one"
    if asked not in CHALLENGES or read.row.api:
        return Observation("", Fact.CREDENTIAL, f"{says}, or name the variable that holds it by --key")
    name = CHALLENGES[asked]
    stated = {"security_schemes": {name: {"type": "http", "scheme": asked}}, "security": [name]}
    return Observation("", Fact.CREDENTIAL, f"{says} ({asked})", stated, certain=False)


def _forms(key: str) -> dict[str, tuple[dict[str, str], str, str]]:
    """Return the forms in which a key may be sent in Authorization, by the name of their scheme."""
    if not key.isascii() or not key.isprintable() or not key:
        return {}
    basic = {"login": ({"type": "http", "scheme": "basic"}, "Basic", b64encode(key.encode()).decode())}
    token = {"token": ({"type": "http", "scheme": "bearer"}, "Bearer", key)}
    return {**(basic if ":" in key else token), "key": (_key_scheme("Authorization", "Token"), "Token", key)}


def _key_scheme(header: str, word: str) -> dict[str, str]:
    return {"type": "apiKey", "in": "header", "name": header, "description": f"Authorization: {word} <key>"}


def _authorized(word: str, key: str = "") -> Callable[[ApiRequest], ApiRequest]:
    """Return a change to a request: the word and a key in Authorization, by default the key that is there."""

    def change(request: ApiRequest) -> ApiRequest:
        others = tuple(each for each in request.headers if each[0].lower() != "authorization")
        sent = key or next((text for name, text in request.headers if name.lower() == "authorization"), "")
        header = ("Authorization", f"{word} {sent}")
        return replace(request, headers=(*others, header), secrets=request.secrets | {sent})

    return change


async def _prefix(requests: AdapterRequests, read: Read) -> Observation | None:
    """Write words before a key in the header Authorization, where the key alone is refused."""
    names = [name for alternative in _alternatives(requests.adapter, read.row) for name in alternative]
    scheme = requests.adapter.security_schemes.get(names[0], {}) if len(names) == 1 else {}
    is_key = (scheme.get("type"), scheme.get("in")) == ("apiKey", "header") and not scheme.get("format")
    header = str(scheme.get("name", ""))
    if read.row.api or not is_key or header.lower() != "authorization":
        return None
    for word in _PREFIXES:
        answer = await requests.send(read.row, read.params, change=_authorized(word))
        if answer is not None and _succeeds(answer):
            says = f"HTTP {read.status} for the key alone, HTTP {answer.status} for {word} before it"
            return Observation("", Fact.CREDENTIAL, says, {"security_schemes": {names[0]: _key_scheme(header, word)}})
    return None
