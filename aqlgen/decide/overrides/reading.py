"""Reading `overrides.yaml`: from text to an override for each entry."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from datetime import date
from typing import Any, Literal

import yaml

from aqlgen.decide.decision import Alias, Asked, Category, Danger, Override, ParameterOverride, Place
from aqlgen.diagnostics.errors import FileError, OptionError
from aqlgen.document.yaml_events import SafeLoader
from aqlgen.runtime.table import Pagination, decode

from .adapter import read_adapter, read_requirements
from .grammar import Path, Tree, schema
from .model import BAD, Overrides, finding, name_collisions
from .selectors import Kind, parse_selector


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
    adapter = read_adapter(tree, ("adapter",), data.pop("adapter", {}))
    apis = {name: read_adapter(tree, ("apis", name), entry) for name, entry in data.pop("apis", {}).items()}
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
        hint = "Indent by spaces, two for each level; YAML takes no tabs there." if "\t" in text else ""
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
            return read_requirements(value)
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
