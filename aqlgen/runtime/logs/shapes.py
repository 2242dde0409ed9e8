# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Secrets of others, known by their shape alone: what an API's text may quote and no log is to keep.

The prefixes are those that vendors publish so that leaked keys can be found. A record loses the secret and keeps its
prefix, by which its owner knows what to revoke.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..redaction import MASK

__all__ = ["without_shapes", "without_shapes_in"]

_SHORTEST = 18
_SHAPES = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"(?P<prefix>"
    r"gh[pousr]_|github_pat_|glpat-|gldt-|xox[abeoprs]-|xapp-|[srp]k_(?:live|test)_|whsec_|sk-ant-|sk-proj-|sk-|AIza|ya29\."
    r"|SG\.|npm_|pypi-|dop_v1_|doo_v1_|hf_|shpat_|shpss_|sq0[a-z]{3}-|lin_api_|ntn_|figd_|pat-[a-z]{2}\d-"
    r"|glsa_|hvs\.|hvb\.|ATATT3|rk_live_|tfp_|r8_|pplx-|gsk_|xai-"
    r")[A-Za-z0-9_.+/=-]{16,500}"
    r"|(?P<key>AKIA|ASIA)[A-Z0-9]{16}"
    r"|(?P<token>eyJ)[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{0,2000}"
    r"|(?P<scheme>(?:[Bb]earer|[Bb]asic) )[A-Za-z0-9._~+/=-]{16,4000}"
    r")"
    r"|(?P<begin>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[^-]{1,16000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?"
)


def without_shapes(text: str) -> str:
    """Return a text in which what has the shape of a vendor's secret is replaced by its prefix and `***`."""
    return _SHAPES.sub(lambda match: f"{match[match.lastgroup or 0]}{MASK}", text) if len(text) > _SHORTEST else text


def without_shapes_in(value: Any) -> Any:
    """Return JSON data without such secrets in its texts."""
    if isinstance(value, str):
        return without_shapes(value)
    if isinstance(value, Mapping):
        return {key: without_shapes_in(item) for key, item in value.items()}
    return [without_shapes_in(item) for item in value] if isinstance(value, (list, tuple)) else value
