"""Where an installed adapter reads its owner's settings, and what it says of a project that was edited since."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from aqlgen.runtime.settings.load import load, project_of


def installed(package: Path, site: Path, record: dict[str, object] | None) -> Path:
    """Copy a package to where an installer would put it, with the installer's record of where it came from."""
    shutil.copytree(package, site / package.name)
    (site / package.name / "adapter.toml").write_text("timeout = 3\n")
    info = site / f"{package.name}-0.1.0.dist-info"
    info.mkdir()
    if record is not None:
        (info / "direct_url.json").write_text(json.dumps(record))
    return site / package.name


def test_an_installed_adapter_reads_the_settings_of_the_project_it_came_from(package: Path, tmp_path: Path) -> None:
    project = package.parent.parent
    (project / "adapter.toml").write_text("timeout = 4\n")
    copy = installed(package, tmp_path / "site", {"dir_info": {}, "url": project.as_uri()})
    assert project_of(copy) == project
    assert load(copy, {}).timeout == 4
    (project / "adapter.toml").unlink()
    assert load(copy, {}).timeout == 3


@pytest.mark.parametrize(
    "record",
    [
        None,
        {},
        {"dir_info": {}, "url": "https://example.com/project"},
        {"dir_info": {}, "url": "file://elsewhere/project"},
        {"dir_info": {}, "url": "file:///nowhere/at/all"},
        {"dir_info": {}, "url": 7},
        {"archive_info": {}, "url": "file:///tmp/x.whl"},
    ],
)
def test_without_a_project_the_settings_are_those_beside_the_code(
    package: Path, tmp_path: Path, record: dict[str, object] | None
) -> None:
    copy = installed(package, tmp_path / "site", record)
    (tmp_path / "adapter.toml").write_text("timeout = 9\n")
    assert project_of(copy) is None
    assert load(copy, {}).timeout == 3
