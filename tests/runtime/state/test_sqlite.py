"""State that outlives a process (R-OPS-3)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from aqlgen.runtime.settings.load import ConfigError, load
from aqlgen.runtime.state import Counter
from aqlgen.runtime.state.custody import open_state
from aqlgen.runtime.state.sqlite import SqliteState


def test_nothing_touches_the_disk_until_something_is_kept(tmp_path: Path) -> None:
    """R-OPS-3"""
    state = open_state(f"sqlite:///{tmp_path}/new/state.sqlite3", "zoo", {})
    assert not (tmp_path / "new").exists()
    state.put("space", "key", {"a": [1, None]})
    assert (tmp_path / "new" / "state.sqlite3").stat().st_mode & 0o777 == 0o600
    state.close()


def test_it_outlives_the_process_and_is_shared(tmp_path: Path) -> None:
    """R-OPS-3"""
    first, second = SqliteState(tmp_path / "s"), SqliteState(tmp_path / "s")
    first.put("a", "key", 1)
    assert second.get("a", "key") == 1
    first.close()
    assert SqliteState(tmp_path / "s").get("a", "key") == 1
    first.put("a", "key", 2)
    assert second.take("a", "key") == 2
    first.close()
    second.close()


def test_where_it_is(tmp_path: Path) -> None:
    assert open_state("", "zoo", {"XDG_STATE_HOME": "/x"}).path == Path("/x/zoo-adapter/state.sqlite3")
    assert open_state("sqlite:///a/b.db", "zoo", {}).path == Path("a/b.db")
    assert open_state("sqlite:////a/b.db", "zoo", {}).path == Path("/a/b.db")
    assert open_state("memory:", "zoo", {}).path is None


@pytest.mark.parametrize("url", ["redis://", "redis://x/y", "sqlite://", "sqlite:///", "state.db"])
def test_another_url_is_an_error(package: Path, url: str) -> None:
    with pytest.raises(ConfigError, match="MCP_AQL_STATE_URL must be"):
        load(package, {"MCP_AQL_STATE_URL": url})


def test_counts_are_read_while_another_process_writes(tmp_path: Path) -> None:
    """R-OPS-3: amounts of 0 are no write."""
    state, other = SqliteState(tmp_path / "state.sqlite3"), SqliteState(tmp_path / "state.sqlite3")
    assert state.spend([Counter("calls", 86_400, 3)]).admitted
    with other._written():
        began = time.monotonic()
        (count,) = state.spend([Counter("calls", 86_400, 0, limit=1)]).counts
    assert count.used == 3
    assert time.monotonic() - began < 2
    state.close()
    other.close()
