from __future__ import annotations

from pathlib import Path

import pytest

from aqlgen.runtime.safety.loop.executions import Profile, profile_of
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.load import ConfigError, load


def test_the_environment_sets_the_loop_too(package: Path) -> None:
    """R-LOOP-2"""
    config = load(
        package,
        {
            "MCP_AQL_SAFETY_LOOP": "Monitoring",
            "MCP_AQL_SAFETY_LOOP_STEPS": "7",
            "MCP_AQL_SAFETY_LOOP_REQUIRES_APPROVAL": "delete_*; git push *",
        },
    )
    assert (config.safety_loop, profile_of(config)) == ("monitoring", Profile(7, ("delete_*", "git push *"), ()))


def test_the_loop_is_disabled_unless_it_is_asked_for() -> None:
    """R-LOOP-2"""
    assert Config().safety_loop == "disabled"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[safety_loop]\ndeny = "drop_*"\nverify = ["x"]', r"'safety_loop.verify' in adapter.toml is not a setting"),
        ('[safety_loop]\nrisk_tolerance = "low"', "must be 'conservative', 'moderate' or 'aggressive'"),
        ("[safety_loop]\nchallenge_ttl = 5", "must be a whole number from 30 to 3600"),
        ('[safety_loop]\nmode = "on"', "must be 'enforcing', 'monitoring', 'logging' or 'disabled'"),
        ('[safety_loop]\napproval = "agent"', "must be 'person' or 'client'"),
        ("[safety_loop]\nmax_autonomous_steps = true", "must be a whole number from 1 to 10000"),
        ('[safety_loop]\nrequires_approval = ["a", 1]', "at entry 2: must be a text"),
        ("[safety_loop]\nsteps = 1", "'safety_loop.steps' in adapter.toml is not a setting"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(package: Path, text: str, reason: str) -> None:
    """R-LOOP-3"""
    (package.parent.parent / "adapter.toml").write_text(text)
    with pytest.raises(ConfigError, match=reason):
        load(package, {})
