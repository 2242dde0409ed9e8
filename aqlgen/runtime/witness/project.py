"""The files of a project that the witness reads: `openapi/`, `overrides.yaml` and the record of the options."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase, translate
from importlib import import_module
from pathlib import Path
from typing import Any

_SCALARS = {
    "bool": ("true|True|TRUE|false|False|FALSE", "tTfF"),
    "null": ("~|null|Null|NULL|", ["~", "n", "N", ""]),
    "int": (r"[-+]?(?:0|[1-9]\d*)", "-+0123456789"),
    "float": (r"[-+]?(?:\.\d+|(?:0|[1-9]\d*)(?:\.\d*)?)(?:[eE][-+]?\d+)?", "-+.0123456789"),
    "merge": ("<<", "<"),
}
"""The core schema of YAML 1.2: each tag with its pattern and the first characters."""
_ASKED = {"each": "always", "first": "first"}  # when a call is confirmed, by its first word in `OPERATIONS.md`
_EFFECTS = {"moves money": "money", "gives or takes access": "access", "reaches people": "people",
            "deletes or ends something": "ends"}  # fmt: skip
_STEP = re.compile(r"\.([A-Za-z_][\w-]*|\*)|\[(?:'([^']*)'|\"([^\"]*)\"|(\*)|(\d+))\]")
_KINDS = ("api", "tag", "path", "operation")
_KEY = re.compile(
    rf"(?:(?!(?:{'|'.join(_KINDS)}):)([a-z][a-z0-9]*):(?!\s*$))?"  # one of several APIs
    rf"(?:({'|'.join(_KINDS)}):|(\*|[A-Za-z]+)\s+(?=/))(.*)"
)


def read(path: Path) -> Any:
    """Return the data of a JSON or YAML file. Raises OSError or ValueError."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".json":
        return json.loads(text)
    yaml: Any = import_module("yaml")  # of the project's extra `dev`
    loader: Any = type("Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {"yaml_implicit_resolvers": {}})
    for tag, (pattern, first) in _SCALARS.items():
        loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})$"), list(first))
    try:
        return json.loads(json.dumps(yaml.load(text, loader), default=str))
    except (yaml.YAMLError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from None


def documents(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name of each API with its document; "" for the only one. An adapter element is not a document."""
    for path in sorted(folder.glob("openapi/**/openapi.*")):
        parts = path.relative_to(folder / "openapi").parts
        if path.suffix in (".json", ".yaml") and len(parts) <= 2:
            yield parts[0] if len(parts) == 2 else "", path


def overlaid(root: Any, path: Path) -> tuple[Any, list[str]]:
    """Return a document with the overlays beside it, and their targets that are beyond names and wildcards."""
    whole, unknown = {"$": root}, []
    overlays = (path.parent / "overlays").glob("*-*.*")
    for overlay in sorted(overlays, key=lambda file: int(file.name.partition("-")[0])):
        for action in read(overlay).get("actions") or ():
            target = str(action.get("target"))
            steps = [str(match[match.lastindex or 0]) for match in _STEP.finditer(target)]
            if _STEP.sub("", target) == "$":
                _change(whole, ["$", *steps], action)
            else:
                unknown.append(f"{overlay.name}: {target}")
    return whole["$"], unknown


def _change(node: Any, steps: list[str], action: Mapping[str, Any]) -> None:
    keys: list[Any] = [*range(len(node))] if isinstance(node, list) else [*node] if isinstance(node, dict) else []
    for key in [each for each in reversed(keys) if steps[0] in ("*", str(each))]:
        if steps[1:]:
            _change(node[key], steps[1:], action)
        elif action.get("remove"):
            del node[key]
        else:
            update = action.get("update")
            node[key] = _merged(node[key], [update] if isinstance(node[key], list) else update)


def _merged(old: Any, new: Any) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: _merged(old.get(key), value) for key, value in new.items()}}
    return [*old, *new] if isinstance(old, list) and isinstance(new, list) else new


def reviewed(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the operations of `OPERATIONS.md`, which people review: category, danger, when each asks, its effects."""
    file, category, operations = folder / "OPERATIONS.md", "", dict[str, tuple[str, ...]]()
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        category = line.removeprefix("## ") if line.startswith("## ") else category
        cells = re.split(r"(?<!\\)\|", line)
        if len(cells) > 8 and category.isupper() and "`" in cells[1]:
            danger, asked = cells[3].split()[0], (cells[4].split() or [""])[0]
            reasons = cells[4].partition(": ")[2].strip().split("; ")
            effects = sorted(effect for text, effect in _EFFECTS.items() if text in reasons)
            operations[cells[1].strip(" `")] = category, danger, _ASKED.get(asked, "never"), *effects
    return operations


def unserved(folder: Path) -> frozenset[str]:
    """Return the operations that `OPERATIONS.md` says are not served, and why, as `METHOD /path`."""
    file = folder / "OPERATIONS.md"
    part = file.read_text("utf-8").partition("\n## Not served\n")[2].partition("\n## ")[0] if file.is_file() else ""
    return frozenset(re.findall(r"^- `([^`]+)`: ", part, re.MULTILINE))


class Owner:
    """The owner's word: what `overrides.yaml` says of operations, and what was included when the project was made."""

    def __init__(self, folder: Path) -> None:
        file, record = folder / "overrides.yaml", folder / "MCPAQL-PROVENANCE.json"
        self.entries: Mapping[str, Any] = (read(file) if file.is_file() else None) or {}
        options = json.loads(record.read_bytes()).get("options", {}) if record.is_file() else {}
        self._include, self._exclude = options.get("include") or [], options.get("exclude") or []

    def of_api(self, api: str) -> Mapping[str, Any]:
        """Return the file's entries for an API as a whole."""
        return {**(self.entries.get("adapter") or {}), **((self.entries.get("apis") or {}).get(api) or {})}

    def of(self, words: Mapping[str, list[str]], method: str) -> dict[str, Any]:
        """Return the merged entries of an operation, the most exact last; `words` are its names by kind of selector."""
        entries = [entry for entry in self.entries.items() if isinstance(entry[1], dict)]
        ranks = [(_rank(key, words, method), number) for number, (key, _) in enumerate(entries)]
        named = any(each.startswith("operation:") for each in self._include)  # perhaps by aqlgen's name of it
        combined: dict[str, Any] = {"hidden": "unless named" if named else True} if self._leaves_out(words) else {}
        for _, number in sorted(rank for rank in ranks if rank[0]):
            entry = entries[number][1]
            parameters = _merged(combined.get("parameters") or {}, entry.get("parameters") or {})
            combined = {**combined, **entry, "parameters": parameters}
        return combined

    def _leaves_out(self, words: Mapping[str, list[str]]) -> bool:
        def fits(pattern: str) -> bool:
            kind, colon, glob = pattern.partition(":")
            kinds, glob = ((kind,), glob) if colon and kind in _KINDS else (_KINDS[1:], pattern)
            return any(fnmatchcase(word, glob) for each in kinds for word in words[each])

        return (bool(self._include) and not any(map(fits, self._include))) or any(map(fits, self._exclude))


def _rank(key: str, words: Mapping[str, list[str]], method: str) -> tuple[int, ...]:
    """Return how exact a key is, () if it does not select the operation."""
    match = _KEY.fullmatch(key.strip())
    api, kind, verb, text = match.groups() if match is not None else ("", "", "", "")
    if match is None or api not in (None, *words["api"]) or (verb or "*").upper() not in ("*", method):
        return ()
    text = text.strip()
    wild = re.escape(text).replace(r"/\*\*", "(?:/[^/]*)*").replace(r"\*", "[^/]*") if verb else translate(text)
    kind = kind or "path"
    if not any(word == text or re.fullmatch(wild, word) for word in words[kind]):
        return ()
    written = "*" not in text and verb != "*"
    exact = 4 if kind == "path" and written else _KINDS.index(kind)
    return exact, written, len(text.replace("*", "")), -text.count("**"), -text.count("*"), api is not None
