"""`MCPAQL-PROVENANCE.json`: from what, by what and with which options a project was made (R-CONF-2)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from json import dumps

from aqlgen import __version__
from aqlgen.errors import OptionError
from aqlgen.ir import Json
from aqlgen.table import SPEC_VERSION

FILE = "MCPAQL-PROVENANCE.json"


def canonical_hash(value: Json) -> str:
    """Give the SHA-256 of a JSON value written with sorted keys and no white space."""
    text = dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def tree_hash(tree: Mapping[str, bytes]) -> str:
    """Give the SHA-256 over the paths and contents of all files, in the order of their paths."""
    whole = sha256()
    for path in sorted(tree):
        whole.update(f"{path}\0{sha256(tree[path]).hexdigest()}\n".encode())
    return f"sha256:{whole.hexdigest()}"


def generated_at() -> str | None:
    """Give the time of `SOURCE_DATE_EPOCH`, None when it is not set: the same input gives the same bytes."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return None
    try:
        return datetime.fromtimestamp(int(epoch), UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        raise OptionError.of(
            "bad-option", f"SOURCE_DATE_EPOCH is {epoch!r}", help="Give whole seconds since 1970-01-01, or unset it."
        ) from None


def provenance(given: Json, options: Mapping[str, Json], tree: Mapping[str, bytes]) -> dict[str, Json]:
    """Give the record; `tree` holds every other file of the project."""
    return {
        "spec_version": SPEC_VERSION,
        "generator": {"name": "aqlgen", "version": __version__},
        "generated_at": generated_at(),
        "input": {"hash": canonical_hash(given)},
        "options": dict(options),
        "files": {"count": len(tree), "hash": tree_hash(tree)},
        "conformance": None,
    }
