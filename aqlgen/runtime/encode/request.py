"""The request of an operation, in its final form (OpenAPI 3.1, Parameter Object).

A value never leaves its place: in a path it stays within its segment, in a query within its pair, and a header's value
cannot hold a line break.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any
from urllib.parse import quote, unquote, unquote_plus

from ..errors import Code, Failure, invalid, too_large
from ..exact_json import write_json
from ..schema.field_names import Names, Renaming, Way
from ..table import Adapter, Parameter, Row
from ..wire import FORM, ApiRequest, Applied, SentFile, is_json, media_type
from . import check_header, check_names, folded
from .body import assemble_body, demanded_fields, encode_body, encode_querystring, form_pairs, with_credentials
from .styles import check_separable, cookie_pairs, form_cookies, header_text, path_text, percent_encoded, query_pairs
from .uploads import Files, ReadFiles
from .urls import is_safe, leads_up, not_encrypted, resolve_base_url, split_at_placeholders, steps_read

_UNSENDABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_LONGEST_ADDRESS = 65_000  # httpx2 sends addresses of 65,536 characters at most
_UNCOOKABLE = re.compile(r"[^\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e,]")  # RFC 6265, 4.1.1; commas part values
_PATH_SAFE = "/:@!$&'()*+,;=~%"


@dataclass(frozen=True, slots=True)
class _Field:
    """A parameter with its encoded name, and the renaming of the fields within its values."""

    name: str
    key: str
    renaming: Renaming | None
    parameter: Parameter

    def value(self, params: Mapping[str, Any]) -> Any:
        """Return the parameter's value under the API's names; None when it has none. Raises Failure: `styles`."""
        value = params.get(self.name)
        check_separable(value, self.parameter)
        return value if self.renaming is None or value is None else self.renaming.convert(value, Way.TO_WIRE)


@dataclass(frozen=True, slots=True)
class _Segment:
    """A part of the path between slashes with its parameters: literal, parameter, literal, …"""

    literals: tuple[str, ...]
    fields: tuple[_Field, ...]


@dataclass(frozen=True, slots=True)
class _Route:
    """The parts that all requests of an operation share."""

    base_url: str
    segments: tuple[str | _Segment, ...]
    fixed_query: tuple[str, ...]
    query_fields: tuple[_Field, ...]
    header_fields: tuple[_Field, ...]
    """Those of the cookies, too."""
    headers: tuple[tuple[str, str], ...]
    fixed: frozenset[str]
    """The names of the pairs that the owner fixed, in query and cookies."""


class RequestBuilder:
    """A builder of requests; `base_url` is the setting, which wins over the document's servers."""

    def __init__(
        self,
        adapter: Adapter,
        names: Names,
        credentials: Callable[[Row], Applied],
        base_url: str | None,
        *,
        variables: Mapping[str, str] | None = None,
        files: Files | None = None,
        in_clear: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._adapter = adapter
        self._in_clear = in_clear
        self._names = names
        self._credentials = credentials
        self._base_url = base_url
        self._variables = variables or {}
        self._files = files or Files()
        self._routes: dict[str, _Route] = {}
        keys = [each["name"] for each in adapter.security_schemes.values() if each.get("in") == "path"]
        self._in_path = {path_credential(name): name for name in keys}
        """The credentials that stand in paths; a request that carries none, as in mock mode, has their names there."""

    def build(self, row: Row, params: Mapping[str, Any]) -> ApiRequest:
        """Build the request of validated parameters. Raises Failure when something forbids it."""
        route = self._routes.get(row.cache_key)
        if route is None:
            route = self._routes[row.cache_key] = self._route(row)
        applied = self._credentials(row)
        if row.presets or row.fixed:
            params = {**row.presets, **params, **row.fixed_values}
        if applied.is_sent and not is_safe(route.base_url) and not self._in_clear(route.base_url):
            raise not_encrypted()
        if self._in_path:
            params = {**self._in_path, **params, **applied.path}
        headers = dict(route.headers)
        cookies: list[str] = []
        try:
            url = route.base_url + _path(row, route, params)
            query = [*route.fixed_query, *_without(applied.query, _query(route, params)), *applied.query]
            for field in route.header_fields:
                value = field.value(params)
                if value is not None:
                    _check_fixed(route, value, field.name)
                    _add_header(field.parameter, value, headers, cookies)
            content, files = self._body(row, params, applied, headers)
        except UnicodeEncodeError:
            raise Failure(Code.INVALID_ENCODING, "Invalid character encoding in request") from None
        for name, text in applied.headers:
            _set_header(headers, name, text)
        if pairs := _all_cookies(headers, [*_without(applied.cookies, cookies), *applied.cookies]):
            _set_header(headers, "Cookie", "; ".join(pairs))
        if query:
            url = f"{url}?{'&'.join(query)}"
            _check_length(url)
        return ApiRequest(row.method, url, tuple(headers.items()), content, applied.secrets, files)

    def _body(
        self, row: Row, params: Mapping[str, Any], applied: Applied, headers: dict[str, str]
    ) -> tuple[bytes | None, tuple[SentFile, ...]]:
        """Return the encoded body with the files in it, and add its content type to the headers."""
        if row.body is None:
            return None, ()
        body = assemble_body(row, params, self._names)
        self._check_demanded(row, body, applied)
        if applied.body and (body is None or isinstance(body, Mapping)):
            body = with_credentials(body or {}, applied.body)
        if body is None and not row.body.is_null and (row.body.parameter or "") not in params:
            return None, ()
        reader = ReadFiles(self._files)
        headers["Content-Type"], content = encode_body(row, row.body, body, reader)
        return content, tuple(reader.sent)

    def _check_demanded(self, row: Row, body: Any, applied: Applied) -> None:
        """Raise Failure if the alternative which a body fits requires a credential that is not set."""
        stated = {name: self._adapter.security_schemes.get(name, {}) for name in chain(*(row.security or ()))}
        schemes = {each["name"]: name for name, each in stated.items() if each.get("in") == "body"}
        if row.body is not None and schemes:
            for field in demanded_fields(row.body, body, self._names, schemes.keys() - applied.body):
                self._credentials(replace(row, security=((schemes[field],),)))

    def _route(self, row: Row) -> _Route:
        at: defaultdict[str, list[Parameter]] = defaultdict(list)
        for field in row.sent_parameters.values():
            at[field.location].append(field)
        for name in (*(field.wire for field in at["header"]), *row.headers, *self._adapter.headers):
            check_header(name)
        for field in (*at["query"], *at["body"]):
            check_names((field.wire,), field.name)
        path, _, fixed = row.path.partition("#")[0].partition("?")
        credentials = {name: Parameter(name=key, wire=name, location="path") for key, name in self._in_path.items()}
        path_parameters = credentials | {field.wire: field for field in at["path"]}
        return _Route(
            base_url=resolve_base_url(self._adapter, row, self._base_url, self._variables),
            segments=tuple(self._segment(row, part, path_parameters) for part in path.lstrip("/").split("/")),
            fixed_query=(
                *(quote(part, safe=_PATH_SAFE + "?") for part in fixed.split("&") if part),
                *(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in row.query.items()),
            ),
            query_fields=tuple(map(self._field, (*at["query"], *at["querystring"]))),
            header_fields=tuple(map(self._field, (*at["header"], *at["cookie"]))),
            headers=self._headers(row),
            fixed=frozenset(field.wire for field in row.fixed.values() if field.location in ("query", "cookie")),
        )

    def _segment(self, row: Row, part: str, path_parameters: Mapping[str, Parameter]) -> str | _Segment:
        """Return a segment of the path. Raises Failure if no parameter fills a placeholder in it."""
        texts, names = split_at_placeholders(part)
        unknown = [name for name in names if name not in path_parameters]
        if unknown:
            raise Failure(
                Code.INTERNAL_ERROR,
                f"Internal error: no parameter of operation '{row.name}' fills '{unknown[0]}' in its path",
                {"operation": row.name},
            )
        literals = tuple(quote(text, safe=_PATH_SAFE) for text in texts)
        fields = tuple(self._field(path_parameters[name]) for name in names)
        return _Segment(literals, fields) if fields else literals[0]

    def _headers(self, row: Row) -> tuple[tuple[str, str], ...]:
        """Return the headers of each request: the document's, then those that the owner set for the adapter.

        The declared content types are accepted, JSON first.
        """
        declared = (str(response.get("content_type") or "") for response in row.responses.values())
        kinds = sorted(dict.fromkeys(filter(None, declared)), key=lambda kind: not is_json(kind))
        headers = {
            "Accept": row.headers.get("Accept") or ", ".join(kinds) or "*/*",
            "User-Agent": f"{self._adapter.name}-adapter/{self._adapter.version}",
            **{name: value for name, value in row.headers.items() if name != "Accept"},
        }
        for name, value in self._adapter.headers.items():
            _set_header(headers, name, value)
        return tuple(headers.items())

    def _field(self, parameter: Parameter) -> _Field:
        return _Field(parameter.name, quote(parameter.wire, safe=""), self._names.renaming(parameter.schema), parameter)


def path_credential(name: str) -> str:
    """Return the key of a credential among the values of a path; it is the name of no parameter."""
    return f"{{{name}}}"


def _without(credentials: Iterable[str], pairs: list[str]) -> list[str]:
    """Return the pairs of an agent's values. Raises Failure if one has the name of a credential's pair."""
    names = set(map(_name_of, credentials))
    for pair in pairs if names else ():
        if _name_of(pair) in names:
            name = unquote_plus(pair.partition("=")[0])
            raise invalid(name, f"'{name}' is sent by the adapter itself, as its credential. Leave it out")
    return pairs


def _name_of(pair: str) -> str:
    return folded(unquote_plus(pair.partition("=")[0]))


def _set_header(headers: dict[str, str], name: str, value: str) -> None:
    """Set a header; those whose names a server may read as this one give way."""
    for other in [other for other in headers if folded(other) == folded(name)]:
        del headers[other]
    headers[name] = value


def _all_cookies(headers: Mapping[str, str], pairs: list[str]) -> list[str]:
    """Return the pairs of cookies, after those of a header Cookie of which none has the name."""
    names = set(map(_name_of, pairs))
    stated = (pair.strip() for name, text in headers.items() if name.lower() == "cookie" for pair in text.split(";"))
    return [*(pair for pair in stated if pair and _name_of(pair) not in names), *pairs]


def _path(row: Row, route: _Route, params: Mapping[str, Any]) -> str:
    path = ""
    for segment in route.segments:
        path += "/" + (segment if isinstance(segment, str) else _fill(row, segment, params))
    return path


def _fill(row: Row, segment: _Segment, params: Mapping[str, Any]) -> str:
    """Fill one segment. One that names another resource, however it is encoded, is refused."""
    text = segment.literals[0]
    for field, literal in zip(segment.fields, segment.literals[1:], strict=True):
        value, parameter = field.value(params), field.parameter
        if parameter.content_type is not None and value is not None:
            text += percent_encoded(_content_text(value, parameter))
        else:
            text += path_text(
                parameter.wire,
                value,
                parameter.style,
                explode=parameter.explode,
                allow_reserved=parameter.allow_reserved,
            )
        text += literal
    _check_length(text)
    if text in ("", ".", "..") or (("%" in text or ";" in text) and _leads_away(text, segment)):
        name = segment.fields[0].name
        if params.get(name) is None:
            details = {"param_name": name, "operation": row.name, "missing_params": [name]}
            raise Failure(Code.MISSING_PARAM, f"Missing required parameter '{name}'", details)
        message = f"Parameter '{name}' is in the path: it must not be empty, '.' or '..', or contain such a step"
        raise invalid(name, message)
    return text


def _check_length(address: str) -> None:
    """Raise Failure for an address, or a part of one, that cannot be sent."""
    if len(address) > _LONGEST_ADDRESS:
        message = f"The address of the request would have {len(address)} characters: {_LONGEST_ADDRESS} can be sent"
        raise too_large(message, "address_length", _LONGEST_ADDRESS, "characters", len(address))


def _leads_away(text: str, segment: _Segment) -> bool:
    """Return True if a server may read a segment as another place. Slashes alone do no harm: they are encoded."""
    steps = steps_read(unquote(text))
    is_matrix = all(field.parameter.style == "matrix" for field in segment.fields)
    if not is_matrix and not any(steps):
        return True
    return leads_up(text)


def _query(route: _Route, params: Mapping[str, Any]) -> list[str]:
    pairs: list[str] = []
    for field in route.query_fields:
        value, parameter = field.value(params), field.parameter
        if value is None:
            continue
        if isinstance(value, Mapping):
            check_names(value, parameter.name)
            _check_fixed(route, value, parameter.name)
        if parameter.location == "querystring":
            pairs += encode_querystring(value, parameter.content_type or "", parameter.fields)
        elif parameter.content_type is not None:
            pairs.append(f"{field.key}={percent_encoded(_content_text(value, parameter))}")
        else:
            pairs += query_pairs(
                field.key,
                value,
                parameter.style,
                explode=parameter.explode,
                allow_reserved=parameter.allow_reserved,
            )
    return pairs


def _check_fixed(route: _Route, value: Any, name: str) -> None:
    """Raise Failure if a field of a parameter's value stands for what the owner fixed."""
    if route.fixed and isinstance(value, Mapping) and not route.fixed.isdisjoint(value):
        field = next(key for key in value if key in route.fixed)
        message = f"Parameter '{name}' must not hold '{field}': the adapter's owner has set it"
        raise invalid(name, message)


def _content_text(value: Any, parameter: Parameter) -> str:
    """Return the text of a parameter that is written by a content type: a form, a text as it is, else JSON."""
    content_type = parameter.content_type or ""
    if media_type(content_type) == FORM and isinstance(value, Mapping):
        return "&".join(form_pairs(value, parameter.fields))
    return value if isinstance(value, str) and not is_json(content_type) else write_json(value)


def _add_header(parameter: Parameter, value: Any, headers: dict[str, str], cookies: list[str]) -> None:
    """Add a value to the headers or to the cookies."""
    content = value if parameter.content_type is None else _content_text(value, parameter)
    if parameter.location == "cookie":
        if parameter.style == "cookie":
            pairs = cookie_pairs(parameter.wire, content, explode=parameter.explode)
            if any(_UNCOOKABLE.search(pair) for pair in pairs):
                raise _unsendable(parameter, "semicolons, quotes, backslashes, blanks or characters beyond ASCII")
            cookies += pairs
            return
        key = quote(parameter.wire, safe="")
        cookies += form_cookies(key, content, explode=parameter.explode, allow_reserved=parameter.allow_reserved)
        return
    if isinstance(content, Mapping | list | tuple) and not content:
        return  # as in a query: what is empty is not sent (RFC 6570, 2.3)
    text = header_text(content, parameter.style, explode=parameter.explode)
    if _UNSENDABLE.search(text):
        raise _unsendable(parameter, "line breaks or control characters")
    _set_header(headers, parameter.wire, text.strip(" \t"))


def _unsendable(parameter: Parameter, forbidden: str) -> Failure:
    place = "cookie" if parameter.location == "cookie" else "header"
    message = f"Parameter '{parameter.name}' is sent as a {place}: it must not hold {forbidden}"
    return invalid(parameter.name, message)
