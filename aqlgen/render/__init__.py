"""From the table to a tree of files: a pure function of template, answers, table and document (path → content)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from json import dumps

from aqlgen.ir import Json
from aqlgen.render.adapter_yaml import adapter_yaml
from aqlgen.render.operations_md import operations_md
from aqlgen.render.provenance import FILE, provenance
from aqlgen.render.template import render_template
from aqlgen.table.identity import Identity
from aqlgen.table.model import Table
from aqlgen.table.text import files

__all__ = ["Order", "render"]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be rendered. `document` is the parsed input, `original` its bytes, `extension` json or yaml."""

    identity: Identity
    table: Table
    document: Json
    original: bytes
    extension: str
    license: str
    overrides: bytes | None
    options: Mapping[str, Json]
    skipped: tuple[tuple[str, str], ...]


def render(order: Order) -> dict[str, bytes]:
    """Render the whole project; the same order gives the same bytes. Raises TemplateError."""
    tree = render_template(_answers(order))
    package = f"src/{order.identity.package}"
    texts = {f"{package}/{path}": text for path, text in files(order.table).items()}
    texts["OPERATIONS.md"] = operations_md(order.table, order.skipped)
    texts["schema/adapter.yaml"] = adapter_yaml(order.table)
    tree |= {path: text.encode("utf-8", "backslashreplace") for path, text in texts.items()}
    tree[f"openapi/openapi.{order.extension}"] = order.original
    if order.overrides is not None:
        tree["overrides.yaml"] = order.overrides
    record = provenance(order.document, order.options, tree)
    tree[FILE] = (dumps(record, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
    return dict(sorted(tree.items()))


def _answers(order: Order) -> dict[str, str]:
    """Give what the template asks; texts of the API go to files that are no code."""
    adapter = order.table.adapter
    servers: Iterable[Mapping[str, str]] = adapter["servers"]
    return {
        "name": order.identity.name,
        "package": order.identity.package,
        "env_prefix": order.identity.prefix,
        "title": adapter["title"],
        "description": adapter["description"],
        "version": adapter["version"],
        "api_version": adapter["api_version"],
        "license": order.license,
        "base_url": next((server["url"] for server in servers), ""),
    }
