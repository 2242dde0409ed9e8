"""The files of a project, path → content: a pure function of the template, its answers, the table and the document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aqlgen.diagnostics.plain import plain
from aqlgen.ir import Json
from aqlgen.render.adapter_yaml import adapter_yaml
from aqlgen.render.operations_md import operations_md
from aqlgen.render.provenance import FILE, canonical_hash, provenance
from aqlgen.render.template import render_template
from aqlgen.resources import URL
from aqlgen.runtime.introspection.postings import FILE as SEARCH
from aqlgen.table.hosts import table_hosts
from aqlgen.table.identity import Identity
from aqlgen.table.model import Table, agent_texts, table_files
from aqlgen.table.search import search_index

__all__ = ["Order", "data", "render", "timed"]


@dataclass(frozen=True, slots=True)
class Order:
    """What a project is rendered from. `raw` is the input as data, `kept` the files of it that the project keeps."""

    identity: Identity
    table: Table
    raw: Json
    kept: Mapping[str, bytes]
    license: str
    overrides: bytes | None
    options: Mapping[str, Json]
    skipped: tuple[tuple[str, str], ...]
    generated_at: str | None = None
    """The time to record; None records none."""
    templates: str = ""
    """The release that the templates are of; "" for a tree that is no release."""
    hashes: Mapping[str, str] = field(default_factory=dict)
    """The recorded hashes of files that the project keeps as they were generated earlier."""
    runtime: str = ""
    """The version of the package that the project depends on; "" for one that holds a copy of the runtime."""
    fork: Mapping[str, str] = field(default_factory=dict)
    """The hashes of the files of code that the project keeps as somebody edited them."""


def render(order: Order) -> dict[str, bytes]:
    """Render the whole project; the same order gives the same bytes. Raises TemplateError."""
    tree = render_template(_answers(order)) | data(order)
    tree |= {f"openapi/{path}": content for path, content in order.kept.items()}
    if order.overrides is not None:
        tree["overrides.yaml"] = order.overrides
    return _with_provenance(order, tree)


def timed(order: Order, tree: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return what `render` returns, with the order's time instead of that of `tree`."""
    files = {path: content for path, content in tree.items() if path != FILE}
    return _with_provenance(order, files)


def _with_provenance(order: Order, tree: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the tree with the record of where it comes from."""
    record = provenance(
        canonical_hash(order.raw),
        order.options,
        tree,
        order.identity.package,
        order.templates,
        order.generated_at,
        hashes=order.hashes,
        fork=order.fork,
        texts_hash=canonical_hash(agent_texts(order.table)),
    )
    return dict(sorted({**tree, FILE: record}.items()))


def data(order: Order) -> dict[str, bytes]:
    """Return the files that hold the table; they need no template."""
    package = f"src/{order.identity.package}"
    texts = {f"{package}/{path}": text for path, text in table_files(order.table).items()}
    texts[f"{package}/{SEARCH}"] = search_index(order.table)
    texts["OPERATIONS.md"] = operations_md(order.table, order.skipped)
    texts["schema/adapter.yaml"] = adapter_yaml(order.table)
    return {path: text.encode("utf-8", "backslashreplace") for path, text in texts.items()}


def _answers(order: Order) -> dict[str, str]:
    """Return the answers to the template's questions; it puts texts of the API into no file of code."""
    adapter = order.table.adapter
    source = {"template_url": URL, "template_tag": order.templates} if order.templates else {}
    return {
        "name": order.identity.name,
        "package": order.identity.package,
        "env_prefix": order.identity.prefix,
        "title": plain(adapter.title, 200),
        "description": plain(adapter.description, 2000),
        "version": adapter.version,
        "api_version": plain(adapter.api_version, 100),
        "license": order.license,
        "hosts": "\n".join(_host_lines(order.table)),
        "base_url": plain(next((server["url"] for server in adapter.servers), "")),
        "runtime": order.runtime,
        **source,
    }


def _host_lines(table: Table) -> list[str]:
    """Return a line for each host to which something goes, or would go if it were accepted.

    It has no number of operations: a new operation changes nothing in the README.
    """
    lines = []
    for use in table_hosts(table):
        if use.is_used:
            purposes = ", ".join([*(["operations"] if use.operations else []), *use.purposes])
            credentials = f", with {', '.join(use.credentials)}" if use.credentials else ""
            refused = "" if use.accepted_by else "; not accepted, so that nothing is sent"
            lines.append(plain(f"{use.origin}: {purposes}{credentials}{refused}"))
    return lines
