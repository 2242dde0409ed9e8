"""What the renderer takes a short way for comes out as copier itself gives it."""

from __future__ import annotations

from pathlib import Path

from copier import run_copy

from aqlgen.render.template import render_template, templates_folder

ANSWERS = {
    "name": "shop",
    "package": "shop_adapter",
    "env_prefix": "SHOP",
    "title": "Shop",
    "description": "Sells things.",
    "version": "0.1.0",
    "api_version": "2",
    "license": "",
    "base_url": "https://shop.example",
}


def test_the_template_renders_to_what_copier_makes_of_the_whole_of_it(tmp_path: Path) -> None:
    run_copy(str(templates_folder()), tmp_path / "shop", data=ANSWERS, defaults=True, quiet=True)
    own = render_template(ANSWERS)
    theirs = {
        path.relative_to(tmp_path / "shop").as_posix(): path.read_bytes()
        for path in (tmp_path / "shop").rglob("*")
        if path.is_file()
    }
    assert own == theirs
