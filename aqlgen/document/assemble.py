"""The assembly of one OpenAPI 3.x document from a request: read → link → overlay → upgrade → check → clean its texts.

The document is put together from files, overlays and conversions, and `Origins` remembers where each part came from, so
that every diagnostic of every later stage names the user's own file, line and column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from json import dumps
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aqlgen.diagnostics import Diagnostic
from aqlgen.diagnostics.errors import AqlgenError, OptionError
from aqlgen.document.link import link
from aqlgen.document.positions import Origins
from aqlgen.document.read import (
    Limits,
    Source,
    Version,
    check,
    is_element,
    is_markdown,
    locate,
    open_document,
    read,
    same_origin,
)
from aqlgen.document.read.web import is_url
from aqlgen.document.request import Request
from aqlgen.document.texts import InstructionText, clean_texts
from aqlgen.document.upgrade import upgrade
from aqlgen.ir import Json

if TYPE_CHECKING:
    from aqlgen.document.element import Stated


@dataclass(frozen=True, slots=True)
class Assembled:
    """One document whose references all begin with `#/`, and the origins of its parts.

    `sources` has the root document first, then other files in the order of references, then overlays, `workflows` last.
    `kept` is what a project stores below `openapi/`: the document as it was read if it is a single file, else the
    bundle, before overlays and before the upgrade. `raw` is the same as data, for the hash of the input.
    """

    root: dict[str, Json]
    openapi: Version
    sources: tuple[Source, ...]
    origins: Origins
    diagnostics: tuple[Diagnostic, ...]
    kept: Mapping[str, bytes]
    raw: Json
    instructions: tuple[InstructionText, ...] = ()
    """Texts that read as instructions to a model."""
    workflows: tuple[Source, ...] = ()
    """The Arazzo documents, as they were read."""
    stated: Stated | None = None
    """The owner's word, where the document is an adapter element."""

    def locate(self, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return diagnostics about `root` with their positions in the sources, sorted."""
        return locate(self.sources, diagnostics, self.root, self.origins)


def assemble(request: Request, limits: Limits | None = None) -> Assembled:
    """Assemble the document. Raises AqlgenError with located diagnostics."""
    limits = limits or Limits()
    if request.element:
        if is_url(request.spec):
            message = "an adapter element is read from a file: it decides about your adapter as you do"
            raise OptionError.of("bad-option", message, help="Download it, look at it, and name the file.")
        return _of_element(read(request.spec, limits=limits), request)
    origins = Origins()
    diagnostics: list[Diagnostic] = []
    sources: list[Source] = []
    root: dict[str, Json] = {}
    try:
        with open_document(request.spec, headers=request.headers, allowed=request.allow, limits=limits) as (
            source,
            library,
        ):
            if request.element is None and is_element(source.root):
                return _of_element(source, request)
            sources, root = [source], dict(source.root)
            root, files, remarks, bundled = link(source, library, origins, limits)
        sources = list(files)
        diagnostics += locate(sources, [*source.diagnostics, *remarks])
        kept = {f"openapi.{source.format}": source.data}
        if bundled:
            text = f"{dumps(root, indent=2, ensure_ascii=False)}\n"
            kept = {"openapi.json": text.encode("utf-8", "backslashreplace")}
        original: Json = root if bundled else source.root
        overlays = [_beside(spec, request, limits) for spec in request.overlays]
        workflows = [_beside(spec, request, limits) for spec in request.workflows]
        sources += overlays
        for number, source in enumerate(overlays, 1):
            from aqlgen.document.overlay.actions import overlay  # 50 ms for JSONPath, which only users of overlays pay

            changed, remarks = overlay(root, source, origins)
            # Diagnostics of an overlay point into the tree before its changes.
            diagnostics += locate(sources, [*source.diagnostics, *remarks], root, origins)
            root = changed
            kept[f"overlays/{number}-{_stem(source, 'overlay')}.{source.format}"] = source.data
        for number, source in enumerate(workflows, 1):
            kept[f"workflows/{number}-{_stem(source, 'workflows')}.{source.format}"] = source.data
            diagnostics += locate([source], source.diagnostics)
        sources += workflows
        upgraded, remarks = upgrade(root, origins)
        diagnostics += locate(sources, remarks, root, origins)
        root = upgraded
        openapi = check(root)
    except AqlgenError as error:
        if not sources:
            raise
        refusal = type(error)(*locate(sources, error.diagnostics, root, origins), *diagnostics)
        refusal.sources = tuple(sources)
        raise refusal from None
    beside = [source.root for source in (*overlays, *workflows)]
    cleaned = clean_texts(root, origins)
    diagnostics += locate(sources, cleaned.diagnostics, root, origins)
    return Assembled(
        cleaned.root,
        openapi,
        tuple(sources),
        origins,
        tuple(diagnostics),
        kept,
        [original, *beside] if beside else original,
        cleaned.instructions,
        tuple(workflows),
    )


def _of_element(source: Source, request: Request) -> Assembled:
    """Assemble the document of an adapter element. Raises SchemaError with located diagnostics."""
    from aqlgen.document.element import convert  # only elements should pay for importing it

    if request.overlays or request.workflows:
        message = "an adapter element takes no overlays and no workflows"
        raise OptionError.of("bad-option", message, help="Change the element itself.")
    origins = Origins()
    try:
        root, stated, warnings = convert(source.root, source.name, origins)
    except AqlgenError as error:
        refusal = type(error)(*locate([source], (*error.diagnostics, *source.diagnostics)))
        refusal.sources = (source,)
        raise refusal from None
    cleaned = clean_texts(root, origins)
    return Assembled(
        cleaned.root,
        check(cleaned.root),
        (source,),
        origins,
        (
            *locate([source], (*source.diagnostics, *warnings)),
            *locate([source], cleaned.diagnostics, root, origins),
        ),
        {f"adapter.{'md' if is_markdown(source.name) else source.format}": source.data},
        source.root,
        cleaned.instructions,
        stated=stated,
    )


def _beside(spec: str, request: Request, limits: Limits) -> Source:
    """Read an overlay or workflows; the headers are for the document's own server."""
    return read(spec, headers=request.headers if same_origin(spec, request.spec) else (), limits=limits)


def _stem(source: Source, default: str) -> str:
    """Return the stem of a source's name, made safe for a file name of the project."""
    stem = PurePosixPath(urlsplit(source.name).path if "://" in source.name else source.name).stem
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-")[:60] or default
