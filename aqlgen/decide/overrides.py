"""The user's decisions, read from `overrides.yaml`: strict, every finding with line and column, all at once.

POST /pets/{petId}/adopt:
  name: adopt_pet
  category: EXECUTE
  danger: destructive
  description: Gives the pet to its new owner.
DELETE /owners/{ownerId}:
  hidden: true
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Final, TypeVar

import yaml

from aqlgen.decisions import Category, Danger
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.errors import FileError, OptionError
from aqlgen.words import snake

from .spelling import LIMIT, RESERVED, is_valid

__all__ = ["Override", "Overrides", "load"]

CODE: Final = "bad-override"
FIELDS: Final = ("name", "category", "danger", "hidden", "description")

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML built without libyaml: the same nodes, more slowly
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Override:
    """What the user decided about one operation; None leaves it to the rules. `places` are lines and columns."""

    name: str | None = None
    category: Category | None = None
    danger: Danger | None = None
    hidden: bool = False
    description: str | None = None
    place: Place = (0, 0)
    places: Mapping[str, Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Overrides:
    """All of them by `METHOD /path`, with the file's name for findings."""

    entries: Mapping[str, Override] = field(default_factory=dict)
    file: str = ""

    def check(self, keys: Iterable[str]) -> None:
        """Raise OptionError for entries whose operation is not among these keys."""
        known = list(keys)
        present = frozenset(known)
        found = [
            _finding(
                self.file,
                one.place,
                f"there is no operation `{key}` in the document",
                _nearest(key, known, "operation"),
            )
            for key, one in self.entries.items()
            if key not in present
        ]
        if found:
            raise OptionError(*found)


def load(path: Path | None) -> Overrides:
    """Read an overrides file; None, an empty file and one of comments alone hold none.

    Raises OptionError for what cannot be used, FileError when the file cannot be read.
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
            CODE, "the overrides are not UTF-8 text", file=file, help="Save the file as UTF-8."
        ) from None
    return parse(text, file)


def parse(text: str, file: str = "") -> Overrides:
    """Read overrides from text. Raises OptionError with every finding, in the order of the file."""
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise OptionError(_finding(file, place, f"not valid YAML: {error.problem}")) from None
    except (yaml.YAMLError, RecursionError) as error:
        first = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise OptionError(_finding(file, (0, 0), f"not valid YAML: {first}")) from None
    if root is None or (isinstance(root, yaml.ScalarNode) and root.tag == "tag:yaml.org,2002:null"):
        return Overrides(file=file)
    reader = _Reader(file)
    entries = dict(reader.entries(root))
    reader.names(entries)
    if reader.found:
        raise OptionError(*sorted(reader.found, key=lambda one: (one.line, one.column)))
    return Overrides(entries, file)


class _Reader:
    """Reads nodes of YAML and collects what is wrong with them."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[Diagnostic] = []

    def entries(self, root: yaml.Node) -> Iterator[tuple[str, Override]]:
        for key, node, place in self._members(root, "the overrides"):
            method, space, path = key.partition(" ")
            if not space or not path.strip().startswith("/"):
                self._say(
                    place, f"`{key}` is not the key of an operation", "Write METHOD /path, as in: GET /pets/{petId}"
                )
                continue
            yield f"{method.upper()} {path.strip()}", self._override(node, place)

    def names(self, entries: Mapping[str, Override]) -> None:
        """Find names that two operations are given."""
        owners: dict[str, str] = {}
        for key, one in entries.items():
            if one.name is not None and (owner := owners.setdefault(one.name, key)) != key:
                self._say(
                    one.places["name"],
                    f"the name `{one.name}` is taken by {owner}",
                    "Give each operation its own name.",
                )

    def _override(self, node: yaml.Node, place: Place) -> Override:
        values: dict[str, yaml.Node] = {}
        places: dict[str, Place] = {}
        for name, value, at in self._members(node, "an override"):
            if name not in FIELDS:
                self._say(at, f"an override has no `{name}`", _nearest(name, FIELDS, "field"))
                continue
            values[name], places[name] = value, _place(value)
        category, danger = self._choice(values.get("category"), Category), self._choice(values.get("danger"), Danger)
        return Override(
            name=self._name(values.get("name")),
            category=category,
            danger=danger,
            hidden=self._flag(values.get("hidden")),
            description=self._text(values.get("description"), "description"),
            place=place,
            places=places,
        )

    def _members(self, node: yaml.Node, what: str) -> Iterator[tuple[str, yaml.Node, Place]]:
        if not isinstance(node, yaml.MappingNode):
            self._say(_place(node), f"{what} must be a mapping", "Write `key: value`, one a line.")
            return
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._say(_place(key), f"a key of {what} must be text", "Quote it if it is meant so.")
            elif key.value in seen:
                self._say(_place(key), f"`{key.value}` stands here twice", "Keep one of them.")
            else:
                seen.add(key.value)
                yield key.value, value, _place(key)

    def _text(self, node: yaml.Node | None, what: str) -> str | None:
        if node is None:
            return None
        if isinstance(node, yaml.ScalarNode) and node.value.strip() and not node.tag.endswith(":null"):
            return str(node.value).strip()
        self._say(_place(node), f"the {what} must be text", f"Write `{what}: some words`, or leave the line out.")
        return None

    def _name(self, node: yaml.Node | None) -> str | None:
        name = self._text(node, "name")
        if node is None or name is None:
            return None
        if name in RESERVED:
            self._say(_place(node), f"the name `{name}` is reserved by the protocol", "Choose another name.")
        elif not is_valid(name):
            better = snake(name)[:LIMIT].rstrip("_")
            instead = f"Did you mean `{better}`?" if is_valid(better) and better not in RESERVED else ""
            rule = f"an operation's name is lower-case words joined by _, at most {LIMIT} characters, and no keyword"
            self._say(_place(node), f"`{name}` cannot be a name: {rule}", instead)
        return name

    def _flag(self, node: yaml.Node | None) -> bool:
        if node is None:
            return False
        if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":bool"):
            return str(node.value).lower() in ("true", "yes", "on")
        self._say(_place(node), "`hidden` must be true or false", "Write `hidden: true`.")
        return False

    def _choice(self, node: yaml.Node | None, kind: type[_Choice]) -> _Choice | None:
        what = kind.__name__.lower()
        text = self._text(node, what)
        if node is None or text is None:
            return None
        for member in kind:
            if member.value.lower() == text.lower():
                return member
        self._say(_place(node), f"`{text}` is no {what}", _nearest(text, [member.value for member in kind], what))
        return None

    def _say(self, place: Place, message: str, help: str) -> None:
        self.found.append(_finding(self.file, place, message, help))


_Choice = TypeVar("_Choice", Category, Danger)


def _place(node: yaml.Node) -> Place:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _finding(file: str, place: Place, message: str, help: str = "") -> Diagnostic:
    return Diagnostic(CODE, Severity.ERROR, message, file=file, line=place[0], column=place[1], help=help)


def _nearest(given: str, known: Iterable[str], what: str) -> str:
    by_folded = {one.lower(): one for one in known}
    close = get_close_matches(given.lower(), by_folded, n=1, cutoff=0.5)
    if close:
        return f"Did you mean `{by_folded[close[0]]}`?"
    few = list(by_folded.values())[:6]
    return f"Each {what} is one of {', '.join(few)}." if len(by_folded) <= 6 else f"No {what} comes near."
