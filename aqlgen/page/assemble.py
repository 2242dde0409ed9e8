"""One HTML file of the template, the style, the scripts and the data, with a policy that allows only these."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from aqlgen.ir import Json
from aqlgen.page.markup import parts

__all__ = ["assemble", "data_block", "policy"]

FOLDER: Final = Path(__file__).parent
PLACEHOLDER: Final = re.compile(r"\{\{([a-z-]+)\}\}")
UNSAFE: Final = re.compile("[<>&\u2028\u2029]")


def assemble(data: Mapping[str, Json]) -> str:
    """Return the template with every placeholder filled, once: what is filled in is never taken for a placeholder."""
    style, early, script = (_asset(name) for name in ("page.css", "early.js", "page.js"))
    values = parts(data) | {
        "policy": policy(styles=(style,), scripts=(early, script)),
        "style": style,
        "early": early,
        "script": script,
        "data": data_block(data),
    }
    return PLACEHOLDER.sub(lambda match: values[match[1]], _asset("page.html"))


def data_block(data: Mapping[str, Json]) -> str:
    """Return JSON that can neither end the script element around it nor open a comment in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def policy(*, styles: tuple[str, ...], scripts: tuple[str, ...]) -> str:
    """Return the Content Security Policy: nothing is loaded or sent, and only these texts, by their hashes, apply."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src {' '.join(map(_hash, styles))}",
            f"script-src {' '.join(map(_hash, scripts))}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(content.encode()).digest()).decode()}'"


def _asset(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
