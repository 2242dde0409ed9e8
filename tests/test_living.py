"""Every command of docs/living.md is run, in its order, as somebody would who lives with an adapter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.checkouts import ROOT, Checkout
from tests.pages import shell, steps

pytestmark = pytest.mark.long

PAGE = ROOT / "docs/living.md"
FIRST = "0.1.0"


@dataclass
class Owner:
    """Somebody who has an adapter, and types what the page shows."""

    folder: Path
    checkout: Checkout
    environment: dict[str, str]

    def type(self, command: str, code: int) -> None:
        if command.startswith("cd "):
            self.folder /= command.split()[1]
            return
        if command.startswith("pip "):
            self.checkout.edit("templates/project/Dockerfile.jinja", "EXPOSE 8000", "EXPOSE 8001")
            self.checkout.release("0.2.0")
            return
        done = self.shell(command)
        assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"

    def shell(self, command: str) -> subprocess.CompletedProcess[str]:
        return shell(command, self.folder, self.environment)

    def edit(self, path: str, old: str, new: str) -> None:
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new, 1), encoding="utf-8")

    def commit(self) -> None:
        assert self.shell("git add --all && git commit --allow-empty -m 'By hand'").returncode == 0


def api_changed(owner: Owner) -> None:
    """Write a new version of the document, in which a parameter has another name."""
    owner.edit("../openapi.yaml", "version: 1.4.0", "version: 1.5.0")
    owner.edit("../openapi.yaml", "- name: bornBefore", "- name: bornUntil")


def conflict(owner: Owner) -> None:
    """Change the port, as the next release does."""
    owner.edit("Dockerfile", "EXPOSE 8001", "EXPOSE 9000")
    owner.commit()
    owner.checkout.edit("templates/project/Dockerfile.jinja", "EXPOSE 8001", "EXPOSE 8002")
    owner.checkout.release("0.3.0")


def hand_edit(owner: Owner) -> None:
    owner.edit("src/petstore_adapter/operations/read.json", '"get_pet": {', '"look_at_pet": {')


def integration(owner: Owner) -> None:
    """Prepare a branch that breaks an agent, for continuous integration to check."""
    assert owner.shell("git switch --quiet --create topic").returncode == 0
    entry = "\nGET /pets/{petId}/photo:\n"
    owner.edit("overrides.yaml", entry, f"\nDELETE /pets/{{petId}}: {{hidden: true}}{entry}")
    owner.commit()
    assert owner.shell("aqlgen update --quiet && git commit --all -m Hide").returncode == 0


BEFORE: dict[str, Callable[[Owner], None]] = {
    "The API changed": api_changed,
    "Conflicts": conflict,
    "Edits of the data": hand_edit,
    "In continuous integration": integration,
}
"""What happens in the world before the commands below a heading are typed."""


@pytest.fixture
def owner(tmp_path: Path, forked: None) -> Owner:
    """Return somebody with the first release of aqlgen, and a document, but no network."""
    checkout = Checkout.make(tmp_path / "aqlgen")
    checkout.release(FIRST)
    tools, home = tmp_path / "tools", tmp_path / "home"
    tools.mkdir()
    home.mkdir()
    (tools / "aqlgen").write_text(f'#!/bin/sh\nexec {sys.executable} -m aqlgen "$@"\n', encoding="utf-8")
    (tools / "aqlgen").chmod(0o755)
    (home / "openapi.yaml").write_bytes((ROOT / "fixtures/petstore.yaml").read_bytes())
    paths = os.pathsep.join([str(tools), checkout.environment["PATH"]])
    return Owner(home, checkout, checkout.environment | {"PATH": paths})


def test_every_command_of_the_page_works(owner: Owner) -> None:
    before = dict(BEFORE)
    for step in steps(PAGE):
        if step.heading in before:
            before.pop(step.heading)(owner)
        if step.kind == "command":
            owner.type(step.command, step.code)
        else:
            file = owner.folder / "overrides.yaml"
            file.write_text(file.read_text(encoding="utf-8") + step.text, encoding="utf-8")
    assert not before
    assert owner.shell("git status --porcelain").stdout.split() in ([], ["??", "report.md"])
