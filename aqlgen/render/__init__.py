"""From the table to a tree of files: a pure function of template, answers, table and document (path → content)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aqlgen.ir import Json
from aqlgen.plain import plain
from aqlgen.releases import URL
from aqlgen.render.adapter_yaml import adapter_yaml
from aqlgen.render.operations_md import operations_md
from aqlgen.render.provenance import FILE, provenance
from aqlgen.render.template import render_template
from aqlgen.table.identity import Identity
from aqlgen.table.model import Table
from aqlgen.table.text import files

__all__ = ["Order", "data", "render"]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be rendered. `given` is the input as data, `kept` the files of it that the project keeps."""

    identity: Identity
    table: Table
    given: Json
    kept: Mapping[str, bytes]
    license: str
    overrides: bytes | None
    options: Mapping[str, Json]
    skipped: tuple[tuple[str, str], ...]
    generated_at: str | None = None
    """The time to record; None records none."""
    templates: str = ""
    """The release that the templates are of; "" for a tree that is no release."""


def render(order: Order) -> dict[str, bytes]:
    """Render the whole project; the same order gives the same bytes. Raises TemplateError."""
    tree = render_template(_answers(order)) | data(order)
    tree |= {f"openapi/{path}": content for path, content in order.kept.items()}
    if order.overrides is not None:
        tree["overrides.yaml"] = order.overrides
    name, at = order.identity.package, order.generated_at
    tree[FILE] = provenance(order.given, order.options, tree, name, order.templates, at)
    return dict(sorted(tree.items()))


def data(order: Order) -> dict[str, bytes]:
    """Give the files that show the table; they need no template."""
    package = f"src/{order.identity.package}"
    texts = {f"{package}/{path}": text for path, text in files(order.table).items()}
    texts["OPERATIONS.md"] = operations_md(order.table, order.skipped)
    texts["schema/adapter.yaml"] = adapter_yaml(order.table)
    return {path: text.encode("utf-8", "backslashreplace") for path, text in texts.items()}


def _answers(order: Order) -> dict[str, str]:
    """Give what the template asks; texts of the API go to files that are no code."""
    adapter = order.table.adapter
    servers: Iterable[Mapping[str, str]] = adapter["servers"]
    source = {"template_url": URL, "template_tag": order.templates} if order.templates else {}
    return {
        "name": order.identity.name,
        "package": order.identity.package,
        "env_prefix": order.identity.prefix,
        "title": plain(adapter["title"], 200),
        "description": plain(adapter["description"], 2000),
        "version": adapter["version"],
        "api_version": plain(adapter["api_version"], 100),
        "license": order.license,
        "base_url": plain(next((server["url"] for server in servers), "")),
        **source,
    }
