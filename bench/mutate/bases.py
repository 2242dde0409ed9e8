"""The documents that are mutated, and the mutants by number."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import yaml

from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.read import parse
from bench.mutate.mutations import Mutator, TooManyError, broken_text, containers

LARGEST = 1_500_000
PATHS = 12
OVERLAY: dict[str, Any] = {
    "overlay": "1.1.0",
    "info": {"title": "t", "version": "1"},
    "extends": "document.json",
    "actions": [
        {"target": "$.info", "update": {"x-a": 1}},
        {"target": "$.paths.*.*", "update": {"tags": ["overlaid"], "parameters": [{"name": "q", "in": "query"}]}},
        {"target": "$.paths.*.*.parameters[?@.in == 'header']", "remove": True},
        {"target": "$..[?match(@.type, 'str.*')]", "update": {"description": "text"}},
        {"target": "$.paths[?@.get]", "copy": "$.info"},
    ],
}


@dataclass(frozen=True)
class Mutant:
    """A document as bytes, the folder of its neighbours if it has any, and an overlay or none."""

    base: str
    name: str
    data: bytes
    neighbours: Path | None
    overlay: bytes | None

    def write(self, folder: Path) -> tuple[Path, Path | None]:
        """Write it to a new folder; return the document and the overlay."""
        if self.neighbours:
            shutil.copytree(self.neighbours, folder)
        else:
            folder.mkdir(parents=True)
        document, overlay = folder / self.name, folder / "overlay.json"
        document.write_bytes(self.data)
        if self.overlay is None:
            return document, None
        overlay.write_bytes(self.overlay)
        return document, overlay


class Bases:
    """The torture set, and the documents of the corpus that are small enough."""

    def __init__(self, corpus: Path) -> None:
        torture = corpus / "torture"
        self._files = sorted(path for path in torture.iterdir() if path.is_file() and path.name != "INDEX.tsv")
        self._files += sorted(
            root for folder in torture.iterdir() if folder.is_dir() for root in folder.iterdir() if root.is_file()
        )
        self._torture = len(self._files)
        self._files += sorted(
            path
            for path in corpus.iterdir()
            if path.suffix in (".json", ".yaml", ".yml") and path.stat().st_size < LARGEST
        )
        self._texts: dict[Path, str | None] = {}

    def mutant(self, seed: int, number: int) -> Mutant:
        """Return the mutant of a number: the same for the same seed, whatever came before."""
        random = Random(f"{seed}:{number}")
        path = self._pick(random)
        neighbours = path.parent if path.parent.parent.name == "torture" else None
        text = self._text(path)
        overlay = None
        if text is None or random.random() < 0.2:
            data, name = self._small(random, path, text), path.name
            data = broken_text(random, data)
        else:
            root = self._cut(random, json.loads(text))
            data = self._dumped(random, self._mutated(random, root))
            name = path.name if neighbours else random.choice(("document.json", "document.yaml"))
        if random.random() < 0.06:
            overlay = json.dumps(self._mutated(random, json.loads(json.dumps(OVERLAY)))).encode()
        return Mutant(path.name, name, data, neighbours, overlay)

    def _pick(self, random: Random) -> Path:
        return random.choice(self._files[: self._torture] if random.random() < 0.6 else self._files[self._torture :])

    def _text(self, path: Path) -> str | None:
        """Return a document as JSON text, None if it cannot be read."""
        if path not in self._texts:
            try:
                self._texts[path] = json.dumps(parse(path.name, path.read_bytes(), None).root)
            except AqlgenError:
                self._texts[path] = None
        return self._texts[path]

    def _small(self, random: Random, path: Path, text: str | None) -> bytes:
        if text is None or path.stat().st_size < 60_000:
            return path.read_bytes()
        return json.dumps(self._cut(random, json.loads(text)), indent=1).encode()

    @staticmethod
    def _cut(random: Random, root: dict[str, Any]) -> dict[str, Any]:
        """Keep a dozen of many paths, and what they refer to."""
        paths = root.get("paths")
        if not isinstance(paths, dict) or len(paths) <= PATHS:
            return root
        kept = set(random.sample(list(paths), PATHS))
        root["paths"] = {path: item for path, item in paths.items() if path in kept}
        reached, todo = set[str](), [root["paths"]]
        while todo:
            node = todo.pop()
            for _, key, value in containers(node):
                if key == "$ref" and isinstance(value, str) and value not in reached:
                    reached.add(value)
                    if (target := _at(root, value)) is not None:
                        todo.append(target)
        for section in (root.get("components"), root):
            for name in section if isinstance(section, dict) else ():
                members = section[name]
                if isinstance(members, dict) and (name in ("definitions", "responses") or section is not root):
                    prefix = f"#/{name}/" if section is root else f"#/components/{name}/"
                    wanted = {name[len(prefix) :].split("/")[0] for name in reached if name.startswith(prefix)}
                    if name != "securitySchemes":
                        section[name] = {key: value for key, value in members.items() if key in wanted}
        return root

    def _mutated(self, random: Random, root: dict[str, Any]) -> Any:
        versions = {key: root[key] for key in ("openapi", "swagger", "overlay") if key in root}
        whole = json.dumps(root)
        mutator = Mutator(random, root, lambda: json.loads(self._text(self._pick(random)) or "{}"))
        try:
            for _ in range(random.choice((1, 1, 2, 3, 5, 9))):
                mutator.mutate()
            containers(root)
        except TooManyError:
            return json.loads(whole)
        return {**versions, **root, **versions} if random.random() < 0.8 else root  # otherwise most would end there

    @staticmethod
    def _dumped(random: Random, root: Any) -> bytes:
        if random.random() < 0.1:
            try:
                return yaml.dump(root, Dumper=yaml.CSafeDumper, allow_unicode=random.random() < 0.5).encode(
                    "utf-8", "replace"
                )
            except (RecursionError, ValueError, yaml.YAMLError):
                pass
        text = json.dumps(root, ensure_ascii=random.random() < 0.5, indent=random.choice((None, 1)))
        return text.encode("utf-8", "surrogatepass" if random.random() < 0.3 else "replace")


def _at(root: Any, reference: str) -> Any:
    node = root
    for part in reference.removeprefix("#/").split("/"):
        try:
            node = node[part.replace("~1", "/").replace("~0", "~")]
        except (KeyError, IndexError, TypeError):
            return None
    return node
