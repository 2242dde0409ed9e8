"""Reading `overrides.yaml`: from text to an override for each entry."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any, Final, Literal

import yaml

from aqlgen.decide.decision import Alias, Asked, Category, Danger, Override, ParameterOverride, Place, Requirements
from aqlgen.diagnostics.errors import FileError, OptionError
from aqlgen.document.yaml_events import SLIPS, SafeLoader
from aqlgen.runtime.encode import is_framing, overrides_method
from aqlgen.runtime.hosts import origins_of_entry
from aqlgen.runtime.table import Pagination, decode

from .grammar import Path, Tree, schema
from .model import BAD, AdapterOverride, HeaderOverride, Overrides, finding, name_collisions
from .selectors import AcceptEntry, Kind, parse_entry, parse_selector

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""The name of a header (RFC 9110, 5.1)."""

_OF_REQUESTS: Final = {
    "content-type": "Choose it for an operation by `body: {content_type: …}`.",
    "cookie": "Declare a security scheme of the kind apiKey in: cookie, or describe the parameter.",
}
"""Headers that each request makes for itself, with the way to change them."""

_CREDENTIAL: Final = "authorization"


def load(path: pathlib.Path | None, content: bytes | None = None) -> Overrides:
    """Read an overrides file; None, an empty file and one of comments alone hold none.

    `content` is what to take for the file's.

    What cannot be used is in `found` of the result. Raises OptionError for what is not YAML or is without end, and
    FileError when the file cannot be read.
    """
    if path is None:
        return Overrides()
    file = str(path)
    try:
        if content is None and path.exists() and not (path.is_file() or path.is_dir()):  # a pipe waits for its writer
            raise FileError.of("file-unreadable", f"{file} is a pipe, a socket or a device, not a file", file=file)
        text = path.read_text(encoding="utf-8-sig") if content is None else content.decode("utf-8-sig")
    except FileNotFoundError:
        raise FileError.of("file-not-found", f"there is no file {file}", file=file) from None
    except IsADirectoryError:
        raise FileError.of("file-is-a-folder", f"{file} is a folder", file=file) from None
    except OSError as error:
        raise FileError.of("file-unreadable", f"cannot read {file}: {error.strerror}", file=file) from None
    except UnicodeDecodeError:
        message = "the overrides are not UTF-8 text"
        raise OptionError.of(BAD, message, file=file, help="Save the file as UTF-8.") from None
    return parse(text, file)


def parse(text: str, file: str = "") -> Overrides:
    """Read overrides from text. Raises OptionError for what is not YAML or is without end."""
    root = _compose(text, file)
    if root is None or (isinstance(root, yaml.ScalarNode) and root.tag == "tag:yaml.org,2002:null"):
        return Overrides(file=file)
    tree = Tree(root, file)
    data: dict[str, Any] = dict(tree.data)
    adapter = _read_adapter(tree, ("adapter",), data.pop("adapter", {}))
    apis = {name: _read_adapter(tree, ("apis", name), entry) for name, entry in data.pop("apis", {}).items()}
    entries: dict[str, Override] = {}
    patterns: dict[str, Override] = {}
    for key, entry in data.items():
        selector = parse_selector(key)
        if selector is None:
            continue  # refused
        override = _override(tree, (key,), entry, selector.key)
        is_own = selector.kind is Kind.PATH and not selector.is_pattern
        group = entries if is_own else patterns
        if selector.key in group:
            tree.refuse(override.place, f"`{selector.key}` is here twice", "Keep one of them.")
        else:
            group[selector.key] = override
    findings = sorted((*tree.findings, *name_collisions(entries, file)), key=lambda each: (each.line, each.column))
    return Overrides(entries, patterns, adapter, apis, file, tuple(findings))


def _compose(text: str, file: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        hint = "Indent by spaces, two for each level; YAML takes no tabs there." if "\t" in text else SLIPS
        if error.context == "while scanning an alias":
            hint = 'Quote a key that begins with *, as in: "* /admin/**".'
        raise OptionError(finding(file, place, f"not valid YAML: {error.problem}", hint)) from None
    except (yaml.YAMLError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise OptionError(finding(file, (0, 0), f"not valid YAML: {reason}")) from None


def _override(tree: Tree, path: Path, entry: Mapping[str, Any], key: str) -> Override:
    """Build the override of an entry; the schema's fields, `body`'s own included, are those of the dataclass."""
    body = entry.get("body", {})
    values = _fields(tree, path, entry) | _fields(tree, (*path, "body"), body)
    values.pop("body", None)
    places = _places(tree, path, entry) | _places(tree, (*path, "body"), body)
    parameters = (f"parameters.{name}" for name in values.get("parameters", ()))
    sources = dict.fromkeys((*(field for field in values if field != "parameters"), *parameters), key)
    return Override(**values, place=tree.keys[path], places=places, key=key, sources=sources)


def _fields(tree: Tree, path: Path, data: Mapping[str, Any]) -> dict[str, Any]:
    return {field: _value(tree, (*path, field), field, value) for field, value in data.items()}


def _places(tree: Tree, path: Path, data: Mapping[str, Any]) -> dict[str, Place]:
    return {field: tree.values[*path, field] for field in data}


def _value(tree: Tree, path: Path, field: str, value: Any) -> Any:
    """Return the value of a field as the dataclasses have it."""
    match field:
        case "example" | "body" | "value" | "default":
            return value
        case "security":
            return _read_requirements(value)
        case "category":
            return Category(value.strip().upper())
        case "danger":
            return Danger(value.strip().lower())
        case "asked":
            return Asked(value)
        case "until":
            return date.fromisoformat(value)
        case "pagination":
            return _pagination(value)
        case "aliases":
            aliases = (_alias(tree, (*path, index), item) for index, item in enumerate(value))
            return tuple(alias for alias in aliases if alias is not None)
        case "parameters":
            return {name: _parameter(tree, (*path, name), each) for name, each in value.items()}
    return value.strip() if isinstance(value, str) else value


def _alias(tree: Tree, path: Path, item: Any) -> Alias | None:
    if isinstance(item, str):
        return Alias(item.strip(), place=tree.values[path])
    if item is None or "name" not in item:
        return None  # refused
    return Alias(**_fields(tree, path, item), place=tree.values[*path, "name"])


def _parameter(tree: Tree, path: Path, data: Mapping[str, Any]) -> ParameterOverride:
    return ParameterOverride(**_fields(tree, path, data), place=tree.keys[path], places=_places(tree, path, data))


def _pagination(stated: Any) -> Pagination | Literal[False] | None:
    """Return the paging in the form that tables have it, without what is the default."""
    if not isinstance(stated, dict):
        return False
    if "style" not in stated:
        return None  # refused
    paging = {
        key: stated[key].strip() if isinstance(stated[key], str) and stated[key][:1] != "/" else stated[key]
        for key in schema()["$defs"]["pagination"]["properties"]
        if key in stated
    }
    in_header = paging["style"] == "link" or paging.get("next_in") == "header"
    if "size_max" in paging:
        paging["size_max"] = int(paging["size_max"])
    paging.pop("next_in", None)
    if "next" in paging and in_header:
        paging["next_in"] = "header"
    if paging.get("in") == "query":
        del paging["in"]
    return decode(Pagination, paging)


# For the whole adapter, or for an API


def _read_adapter(tree: Tree, path: Path, data: Mapping[str, Any]) -> AdapterOverride:
    """Return the overrides of the whole adapter, or of an API; `tree` takes the findings."""
    schemes = {
        name: scheme
        for name, scheme in data.get("security_schemes", {}).items()
        if _is_sendable(tree, (*path, "security_schemes", name), scheme)
    }
    security = data.get("security")
    stated = data.get("headers", {})
    headers = [_header(tree, (*path, "headers", name), name, value, stated) for name, value in stated.items()]
    places: dict[str, Place] = {name: tree.values[*path, name] for name in data}
    for name in data.get("variables", {}):
        places[f"variables.{name}"] = tree.keys[*path, "variables", name]
    return AdapterOverride(
        field_case=data.get("field_case"),
        security_schemes=schemes,
        security=None if security is None else _read_requirements(security),
        headers=tuple(header for header in headers if header is not None),
        variables=data.get("variables", {}),
        hosts=_hosts(tree, (*path, "hosts"), data),
        accept=tuple(_accepted(tree, (*path, "accept"), data.get("accept", []))),
        prefix=data.get("prefix", ""),
        places=places,
        place=tree.keys.get(path, (0, 0)),
    )


def _accepted(tree: Tree, path: Path, items: list[str | None]) -> Iterator[AcceptEntry]:
    for index, item in enumerate(items):
        entry = item and parse_entry(item, tree.values[*path, index])
        if entry:
            yield entry
        elif item:
            tree.refuse(
                tree.values[*path, index], f"`{item}` is nothing to accept", 'Write "rule:NAME" or METHOD /path.'
            )


def _read_requirements(data: list[Any]) -> Requirements:
    """Return security requirements, of which one without scopes may be written as the name of its scheme."""
    alternatives: list[tuple[str, ...]] = []
    scopes: dict[str, tuple[str, ...]] = {}
    for item in data:
        if isinstance(item, str):
            alternatives.append((item.strip(),))
        elif isinstance(item, Mapping):  # None was refused
            alternatives.append(tuple(item))
            for name, listed in item.items():
                if listed:
                    scopes.setdefault(name, tuple(scope for scope in listed if scope is not None))
    return Requirements(tuple(alternatives), scopes)


def _hosts(tree: Tree, path: Path, data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the origins that the owner's list of hosts accepts."""
    origins: dict[str, None] = {}
    for index, entry in enumerate(data.get("hosts") or ()):
        if entry is None:
            continue  # refused
        try:
            origins |= dict.fromkeys(map(str, origins_of_entry(entry.strip())))
        except ValueError as problem:
            way_out = "Write `uploads.example.com` or `uploads.example.com:8443`, each host on its own."
            tree.refuse(tree.values[*path, index], f"`{entry}` {problem}", way_out)
    return tuple(origins)


def _is_sendable(tree: Tree, path: Path, scheme: Mapping[str, Any]) -> bool:
    """Return True if a scheme does not send what frames or routes a request."""
    if scheme.get("type") != "apiKey" or "name" not in scheme:
        return "type" in scheme
    name = scheme["name"]
    in_header = scheme.get("in") == "header"
    if in_header and not _TOKEN.fullmatch(name):
        tree.refuse(tree.values[*path, "name"], f"`{name}` is not a name of a header", "Write it as in: X-Api-Key.")
        return False
    if is_framing(name) if in_header else overrides_method(name):
        message = f"`{name}` frames or routes requests, and only the adapter sends it"
        tree.refuse(tree.values[*path, "name"], message, "Leave the scheme out.")
        return False
    return "in" in scheme


def _header(tree: Tree, path: Path, name: str, value: Any, headers: Iterable[str]) -> HeaderOverride | None:
    place = tree.keys[path]
    folded = name.strip().lower()
    others = [key for key in headers if key.strip().lower() == folded]
    message, hint = "", "Leave it out."
    if not _TOKEN.fullmatch(name.strip()):
        message, hint = f"`{name}` is not a name of a header", "Write it as in: X-Tenant."
    elif is_framing(name):
        message = f"`{name}` frames or routes requests, and only the adapter sends it"
    elif folded in _OF_REQUESTS:
        message, hint = f"`{name}` differs from request to request", _OF_REQUESTS[folded]
    elif folded == _CREDENTIAL and isinstance(value, str):
        message = f"`{name}` is a credential, which no file of the project may contain"
        hint = f"Write `{name}: {{env: NAME}}` and set the variable, or declare a security scheme."
    elif others[0] != name:
        message, hint = f"`{name}` is here twice", "Keep one of them."
    if message:
        tree.refuse(place, message, hint)
        return None
    if isinstance(value, str):
        return HeaderOverride(name.strip(), value=value.strip(), place=place)
    return HeaderOverride(name.strip(), variable=value["env"], place=place) if "env" in value else None
