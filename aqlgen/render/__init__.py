"""The files of a project, path → content: a pure function of the template, its answers, the table and the document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aqlgen.ir import Json
from aqlgen.render.adapter_element import adapter_element, adapter_markdown
from aqlgen.render.answers import template_answers
from aqlgen.render.operations_md import operations_md
from aqlgen.render.provenance import FILE, RUNTIME, canonical_hash, provenance
from aqlgen.render.template import render_template
from aqlgen.resources import Release, sealed_runtime
from aqlgen.runtime.introspection.postings import FILE as SEARCH
from aqlgen.table.identity import Identity
from aqlgen.table.model import Table, agent_texts, table_files
from aqlgen.table.search import search_index


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
    release: Release = field(default_factory=Release)
    """The release that the templates are of."""
    hashes: Mapping[str, str] = field(default_factory=dict)
    """The recorded hashes of files that the project keeps as they were generated earlier."""
    sealed: bool = True
    """Whether the project holds the runtime as one archive, not as its source."""
    parts: tuple[str, ...] = ()
    """What the project has beside the adapter itself, of `PARTS`."""
    conformance: Json = None
    """What `aqlgen check` recorded of the project."""


def render(order: Order) -> dict[str, bytes]:
    """Render the whole project; the same order gives the same bytes. Raises TemplateError."""
    answers = template_answers(order.identity, order.table, order.license, order.release)
    answers |= {"runtime": "sealed" if order.sealed else "", "parts": " ".join(order.parts)}
    tree = render_template(answers) | data(order)
    tree |= {f"openapi/{path}": content for path, content in order.kept.items()}
    if order.sealed:
        tree[RUNTIME] = sealed_runtime()
    if order.overrides is not None:
        tree["overrides.yaml"] = order.overrides
    return _with_provenance(order, tree)


def timed(order: Order, tree: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of `render`, with the order's time instead of that of `tree`."""
    files = {path: content for path, content in tree.items() if path != FILE}
    return _with_provenance(order, files)


def _with_provenance(order: Order, tree: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the tree with the record of where it comes from."""
    record = provenance(
        canonical_hash(order.raw),
        order.options,
        tree,
        order.identity.package,
        order.release,
        order.generated_at,
        hashes=order.hashes,
        texts_hash=canonical_hash(agent_texts(order.table), depth=2),
        conformance=order.conformance,
    )
    return dict(sorted({**tree, FILE: record}.items()))


def data(order: Order) -> dict[str, bytes]:
    """Return the files that hold the table, or show it; they need no template."""
    files = {f"src/{order.identity.package}/{SEARCH}": _encoded(search_index(order.table))}
    files["OPERATIONS.md"] = _encoded(operations_md(order.table, order.skipped))
    if "element" in order.parts:
        element = adapter_element(order.table)
        files["schema/adapter.yaml"] = _encoded(element)
        files[f"schema/{order.identity.project}.md"] = _encoded(adapter_markdown(order.table, element))
    return {f"src/{order.identity.package}/{path}": content for path, content in table_files(order.table)} | files


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
