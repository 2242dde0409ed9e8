from __future__ import annotations

from collections.abc import Callable

import pytest

from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.read import Limits, Source, parse


@pytest.fixture
def root() -> Callable[[str], object]:
    """Return a reader of text that returns its tree."""
    return lambda text: parse("api.yaml", text.encode(), None).root


@pytest.fixture
def refusal() -> Callable[..., tuple[str, str, int, int]]:
    """Return a reader of invalid text that returns code, message and position of the single diagnostic."""

    def refused(data: str | bytes, limits: Limits | None = None) -> tuple[str, str, int, int]:
        with pytest.raises(AqlgenError) as caught:
            parse("api.yaml", data.encode() if isinstance(data, str) else data, None, limits=limits)
        (finding,) = caught.value.diagnostics
        assert finding.file == "api.yaml"
        return finding.code, finding.message, finding.line, finding.column

    return refused


@pytest.fixture
def source() -> Callable[[str], Source]:
    return lambda text: parse("api.yaml", text.encode(), None)
