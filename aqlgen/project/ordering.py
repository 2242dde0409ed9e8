"""What is to be rendered of a prepared document, with the options that a project records."""

from __future__ import annotations

from pathlib import Path

from aqlgen.diagnostics.errors import FileError, OptionError
from aqlgen.pipeline import Options, Prepared
from aqlgen.releases import current
from aqlgen.render import Order
from aqlgen.render.provenance import generated_at

__all__ = ["order_of", "spdx"]


def order_of(options: Options, prepared: Prepared, license: str) -> Order:
    """Order the project of what was prepared with these options. Raises AqlgenError."""
    recorded = {
        "name": prepared.identity.name,
        "include": list(options.include),
        "exclude": list(options.exclude),
        "field_case": options.field_case,
        "license": license,
        "spec_url": options.request.public_url,
        "base": prepared.base,
        "names": dict(sorted(prepared.pinned.items())),
    } | ({"retired": prepared.retired} if prepared.retired else {})
    return Order(
        identity=prepared.identity,
        table=prepared.table,
        given=prepared.assembled.given,
        kept=prepared.assembled.kept,
        license=license,
        overrides=_overrides(options.overrides),
        options=recorded,
        skipped=tuple((f"{one.method.upper()} {one.path}", one.diagnostic.message) for one in prepared.skipped),
        generated_at=generated_at(),
        templates=current().tag,
    )


def _overrides(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError.of("file-unreadable", f"{path} cannot be read", file=str(path)) from error


def spdx(given: str) -> str:
    """Give the canonical form of an SPDX expression, empty for none. Raises OptionError."""
    if not given:
        return ""
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

    try:
        return str(canonicalize_license_expression(given))
    except InvalidLicenseExpression:
        raise OptionError.of(
            "bad-option",
            f"--license {given!r} is not an SPDX licence expression",
            help="Use an identifier from the SPDX list, such as MIT, Apache-2.0 or LicenseRef-Proprietary.",
        ) from None
