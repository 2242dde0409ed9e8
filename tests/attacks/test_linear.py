"""No expression of aqlgen takes more than linear time, whatever the text: an error, a header, a document, a setting
(R-TRUST-4).
"""

from __future__ import annotations

import re
from time import process_time
from typing import Any

import pytest

from tests.attacks.expressions import Expression, expressions, pumps

pytestmark = pytest.mark.long

_SIZES = (24, 40, 64, 120, 400, 4_000)
_SMALL = 1 / 60
"""CPU seconds for each of the sizes."""
_SIZE = 65_536
_MOST = 0.0125
"""CPU seconds for the whole of the adversarial text."""


def _seconds(expression: re.Pattern[Any], method: str, text: Any) -> float:
    started = process_time()
    if method in ("sub", "subn"):
        getattr(expression, method)("" if isinstance(text, str) else b"", text)
    elif method == "finditer":
        for _ in expression.finditer(text):
            pass
    else:
        getattr(expression, method)(text)
    return process_time() - started


def _least_seconds(expression: re.Pattern[Any], method: str, text: Any) -> float:
    """Return the least of five measurements, or the first that is short enough."""
    least = _seconds(expression, method, text)
    for _ in range(4):
        if least > _MOST:
            least = min(least, _seconds(expression, method, text))
    return least


def _text(expression: re.Pattern[Any], prefix: str, unit: str, suffix: str, size: int) -> Any:
    text = prefix + unit * (size // len(unit)) + suffix
    return text if isinstance(expression.pattern, str) else text.encode("latin-1", "replace")


def _fault(expression: Expression) -> str:
    """Return the first input that takes too long; the slowest of those that do not is measured at full size."""
    compiled = expression.compiled
    for method in expression.methods:
        slowest, slowest_pump = -1.0, None
        for pump in pumps(compiled):
            for size in _SIZES:
                seconds = _seconds(compiled, method, _text(compiled, *pump, size))
                if seconds > _SMALL:
                    return f"{method} of {pump!r} × {size} took {seconds:.3f} s"
            if seconds > slowest:
                slowest, slowest_pump = seconds, pump
        if slowest_pump is None:
            continue
        text = _text(compiled, *slowest_pump, _SIZE)
        seconds = _least_seconds(compiled, method, text)
        if seconds > _MOST:
            quarter = _seconds(compiled, method, _text(compiled, *slowest_pump, _SIZE // 4))
            if seconds > 20 * _MOST or seconds > 12 * quarter:
                return f"{method} of {slowest_pump!r} × {_SIZE} took {seconds:.3f} s, a quarter of it {quarter:.3f} s"
    return ""


def test_an_expression_is_linear_in_an_adversarial_text() -> None:
    collected = expressions()
    assert len(collected) > 400
    assert [f"{expression.where}: {fault}" for expression in collected if (fault := _fault(expression))] == []
