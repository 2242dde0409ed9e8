"""From the file to its entries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import yaml

from aqlgen.decisions import Override, Place
from aqlgen.diagnostics.errors import FileError, OptionError

from .entry import entry
from .findings import BAD, finding
from .model import Overrides
from .reader import Reader

__all__ = ["CASES", "load", "parse"]

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML built without libyaml: the same nodes, more slowly
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

CASES: Final = ("snake", "preserve")
_TAG: Final = "tag:"
_KEY: Final = "Write METHOD /path, as in: GET /pets/{petId}; or tag:NAME"


def load(path: Path | None) -> Overrides:
    """Read an overrides file; None, an empty file and one of comments alone hold none.

    What cannot be used is in `found` of the result. Raises OptionError for what is not YAML, FileError when the file
    cannot be read.
    """
    if path is None:
        return Overrides()
    file = str(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise FileError.of("file-not-found", f"there is no file {file}", file=file) from None
    except IsADirectoryError:
        raise FileError.of("file-is-a-folder", f"{file} is a folder", file=file) from None
    except OSError as error:
        raise FileError.of("file-unreadable", f"cannot read {file}: {error.strerror}", file=file) from None
    except UnicodeDecodeError:
        raise OptionError.of(
            BAD, "the overrides are not UTF-8 text", file=file, help="Save the file as UTF-8."
        ) from None
    return parse(text, file)


def parse(text: str, file: str = "") -> Overrides:
    """Read overrides from text. Raises OptionError for what is not YAML."""
    root = _compose(text, file)
    if root is None or (isinstance(root, yaml.ScalarNode) and root.tag == "tag:yaml.org,2002:null"):
        return Overrides(file=file)
    reader = Reader(file)
    entries: dict[str, Override] = {}
    tags: dict[str, Override] = {}
    field_case = None
    for key, node, place in reader.members(root, "the overrides"):
        if key == "adapter":
            given = reader.known(node, "`adapter`", ("field_case",))
            field_case = reader.one_of(given.get("field_case"), "field_case", CASES)
        elif key.startswith(_TAG) and key.removeprefix(_TAG).strip():
            tags[key.removeprefix(_TAG).strip()] = entry(reader, node, place, tag=True)
        else:
            _operation(reader, entries, key, node, place)
    _names(reader, entries)
    return Overrides(entries, tags, field_case, file, tuple(reader.found))


def _compose(text: str, file: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        way = "Indent by spaces, two for each level; YAML takes no tabs there." if "\t" in text else ""
        raise OptionError(finding(file, place, f"not valid YAML: {error.problem}", way)) from None
    except (yaml.YAMLError, RecursionError) as error:
        first = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise OptionError(finding(file, (0, 0), f"not valid YAML: {first}")) from None


def _operation(reader: Reader, entries: dict[str, Override], key: str, node: yaml.Node, place: Place) -> None:
    method, space, path = key.partition(" ")
    own = f"{method.upper()} {path.strip()}"
    if not space or not path.strip().startswith("/"):
        reader.say(place, f"`{key}` is not the key of an operation", _KEY)
    elif own in entries:
        reader.say(place, f"`{own}` stands here twice", "Keep one of them.")
    else:
        entries[own] = entry(reader, node, place, tag=False)


def _names(reader: Reader, entries: Mapping[str, Override]) -> None:
    """Find names and aliases that are given twice."""
    way_out = "Give each operation its own name."
    owners: dict[str, str] = {}
    for key, one in entries.items():
        if one.name is not None and (owner := owners.setdefault(one.name, key)) != key:
            reader.say(one.places["name"], f"the name `{one.name}` is taken by {owner}", way_out)
    for key, one in entries.items():
        for alias in one.aliases:
            if alias.name in owners:
                reader.say(alias.place, f"the alias `{alias.name}` is taken by {owners[alias.name]}", way_out)
            owners.setdefault(alias.name, key)
