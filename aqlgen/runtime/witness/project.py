# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The files of a project that the witness reads: `openapi/`, `overrides.yaml` and the record of the options."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["Owner", "documents", "overlaid", "read"]

_STEP = re.compile(r"\.([A-Za-z_][\w-]*|\*)|\[(?:'([^']*)'|\"([^\"]*)\"|(\*)|(\d+))\]")
_KINDS = ("api", "tag", "path", "operation")


def read(path: Path) -> Any:
    """Return the data of a JSON or YAML file; YAML by the core schema of 1.2. Raises OSError or ValueError."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".json":
        return json.loads(text)
    yaml: Any = import_module("yaml")  # of the project's extra `dev`
    loader: Any = type("Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {"yaml_implicit_resolvers": {}})
    for tag, pattern, first in (
        ("bool", "true|True|TRUE|false|False|FALSE", "tTfF"),
        ("null", "~|null|Null|NULL|", "~nN"),
        ("int", r"[-+]?(?:0|[1-9]\d*)", "-+0123456789"),
        ("float", r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?", "-+.0123456789"),
        ("merge", "<<", "<"),
    ):
        resolver = re.compile(f"(?:{pattern})$")
        loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", resolver, [*first, *([""] if tag == "null" else [])])
    try:
        return json.loads(json.dumps(yaml.load(text, loader), default=str))
    except (yaml.YAMLError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from None


def documents(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name of each API with its document; "" for the only one. An adapter element is no document."""
    for path in sorted(folder.glob("openapi/**/openapi.*")):
        parts = path.relative_to(folder / "openapi").parts
        if path.suffix in (".json", ".yaml") and len(parts) <= 2:
            yield parts[0] if len(parts) == 2 else "", path


def overlaid(root: Any, path: Path) -> list[str]:
    """Apply the overlays beside a document to it, and return the targets that are beyond names and wildcards."""
    unknown: list[str] = []
    overlays = (path.parent / "overlays").glob("*-*.*")
    for overlay in sorted(overlays, key=lambda file: int(file.name.partition("-")[0])):
        for action in read(overlay).get("actions") or ():
            steps = _steps(action.get("target", ""))
            if steps is None:
                unknown.append(f"{overlay.name}: {action.get('target')}")
            elif steps:
                _change(root, steps, action)
            elif "update" in action:
                _merge(root, action["update"])
    return unknown


def _steps(target: str) -> list[str] | None:
    matches = list(_STEP.finditer(target, 1))
    if not target.startswith("$") or "".join(match[0] for match in matches) != target[1:]:
        return None
    return [next(group for group in match.groups() if group is not None) for match in matches]


def _change(node: Any, steps: list[str], action: Mapping[str, Any]) -> None:
    step, rest = steps[0], steps[1:]
    keys = list(range(len(node))) if isinstance(node, list) else list(node) if isinstance(node, dict) else []
    for key in reversed([key for key in keys if step in ("*", str(key))]):
        if rest:
            _change(node[key], rest, action)
        elif action.get("remove"):
            del node[key]
        elif isinstance(node[key], list):
            node[key].append(action.get("update"))
        elif isinstance(node[key], dict):
            _merge(node[key], action.get("update"))


def _merge(node: dict[str, Any], update: Any) -> None:
    for key, value in (update if isinstance(update, dict) else {}).items():
        if isinstance(node.get(key), dict) and isinstance(value, dict):
            _merge(node[key], value)
        elif isinstance(node.get(key), list) and isinstance(value, list):
            node[key] = [*node[key], *value]
        else:
            node[key] = value


class Owner:
    """The owner's word: what `overrides.yaml` says of operations, and what was included when the project was made."""

    def __init__(self, folder: Path) -> None:
        file, record = folder / "overrides.yaml", folder / "MCPAQL-PROVENANCE.json"
        self.entries: Mapping[str, Any] = (read(file) if file.is_file() else None) or {}
        options = json.loads(record.read_bytes()).get("options", {}) if record.is_file() else {}
        self._include, self._exclude = options.get("include") or [], options.get("exclude") or []

    def of_api(self, api: str) -> Mapping[str, Any]:
        """Return what the file says of an API as a whole."""
        return {**(self.entries.get("adapter") or {}), **((self.entries.get("apis") or {}).get(api) or {})}

    def of(self, words: Mapping[str, list[str]], method: str, name: str = "") -> dict[str, Any]:
        """Return what holds for an operation, the most exact entry last; `words` are its names by kind of selector."""
        names = {**words, "operation": [*words["operation"], *([name] if name else [])]}
        matching = []
        for number, (key, entry) in enumerate(self.entries.items()):
            rank = _rank(key, names, method) if key not in ("adapter", "apis") and isinstance(entry, dict) else None
            if rank is not None:
                matching.append((rank, number, entry))
        combined: dict[str, Any] = {}
        for _, _, entry in sorted(matching, key=lambda match: match[:2]):
            parameters = dict(combined.get("parameters") or {})
            for parameter, change in (entry.get("parameters") or {}).items():
                parameters[parameter] = {**parameters.get(parameter, {}), **(change or {})}
            combined = {**combined, **entry, "parameters": parameters}
        return combined

    def leaves_out(self, words: Mapping[str, list[str]], name: str = "") -> bool:
        """Return True if the options leave an operation out."""

        def fits(pattern: str) -> bool:
            kind, colon, glob = pattern.partition(":")
            kinds = (kind,) if colon and kind in _KINDS else ("tag", "path", "operation")
            text = glob if colon and kind in _KINDS else pattern
            return any(fnmatchcase(word, text) for each in kinds for word in (*words[each], *([name] if name else [])))

        return (bool(self._include) and not any(map(fits, self._include))) or any(map(fits, self._exclude))


def _rank(key: str, words: Mapping[str, list[str]], method: str) -> tuple[int, ...] | None:
    """Return how exact a key is, None if it does not select the operation."""
    api = re.match(r"([a-z][a-z0-9]*):(?!\s*$)", key)
    narrowed = api is not None and api[1] not in _KINDS
    if api is not None and narrowed:
        if api[1] not in words["api"]:
            return None
        key = key[api.end() :]
    kind, colon, text = key.partition(":")
    verb, space, path = key.strip().partition(" ")
    if colon and kind in _KINDS:
        text, exact = text.strip(), _KINDS.index(kind)
        fits = any(fnmatchcase(word, text) for word in words[kind])
    elif space:
        text, kind, exact = path.strip(), "path", 2
        pattern = re.escape(text).replace(r"/\*\*", "(?:/[^/]*)*").replace(r"\*", "[^/]*")
        fits = verb.upper() in ("*", method) and any(
            word == text or re.fullmatch(pattern, word) for word in words["path"]
        )
    else:
        return None
    written = "*" not in text and verb != "*"
    exact = 4 if kind == "path" and written else exact
    return (exact, written, len(text.replace("*", "")), -text.count("**"), -text.count("*"), narrowed) if fits else None
