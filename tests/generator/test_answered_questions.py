"""`aqlgen explain --questions` and `aqlgen review --answers`: an agent may raise what is asked, a person lowers it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cases import each
from tests.generator.commands import Run, api, generate, run

OK: dict[str, Any] = {"responses": {"200": {"description": "ok"}}}
PATHS = {
    "/pets": {"get": OK, "post": {"summary": "Add a pet", **OK}},
    "/pets/{id}": {"get": OK, "delete": OK},
    "/pets/{id}/sell": {"post": {"summary": "Sell a pet", **OK}},
    "/leashes": {"post": {"summary": "Add a leash", **OK}},
}
OWNERS = """\
# the owner's own file
GET /pets: {name: list_pets}   # kept
POST /pets/{id}/sell:
  why: the shop wants to know   # the owner's
"""


class Review:
    """A project whose questions are answered."""

    def __init__(self, folder: Path) -> None:
        self.folder = generate(folder, json.dumps(api(PATHS))).folder
        self.overrides = self.folder / "overrides.yaml"
        self.overrides.write_text(OWNERS, encoding="utf-8")

    def asked(self) -> dict[str, str]:
        done = run("explain", self.folder, "--output-format", "json")
        return {f"{row['method']} {row['path']}": row["asked"] for row in done.json["operations"]}

    def answer(self, *answers: dict[str, Any] | str, person: str = "") -> Run:
        lines = [line if isinstance(line, str) else json.dumps({"by": "bot", **line}) for line in answers]
        file = self.folder.parent / "answers.jsonl"
        file.write_text("\n".join(lines), encoding="utf-8")
        named = ("--as-person", person) if person else ()
        return run("review", self.folder, "--answers", file, "--output-format", "json", *named)

    @property
    def entries(self) -> dict[str, Any]:
        return yaml.safe_load(self.overrides.read_text(encoding="utf-8"))


@pytest.fixture
def review(tmp_path: Path) -> Iterator[Review]:
    return Review(tmp_path)


class Terminal(io.StringIO):
    """Where a person types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Any:
    def at_terminal(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", Terminal(text))
        monkeypatch.setattr(io, "StringIO", Terminal)  # what `run` captures

    return at_terminal


def test_each_open_question_is_a_line_with_its_evidence_and_the_possible_answers(review: Review) -> None:
    """R-EFF-2"""
    done = run("explain", review.folder, "--questions")
    questions = [json.loads(line) for line in done.out.splitlines()]
    asked = review.asked()
    doubted = {key for key, when in asked.items() if when == "first"}
    assert {question["operation"] for question in questions} == doubted | {"POST /pets", "DELETE /pets/{id}"}
    assert questions
    for question in questions:
        assert question["answers"] == ["never", "first", "always"]
        assert question["asked"] == asked[question["operation"]]
        assert question["reason"]
        assert {"effects", "evidence", "summary", "rule"} <= question.keys()


def test_an_agents_answers_raise_and_never_lower(review: Review) -> None:
    """R-EFF-2: whoever the file says that it is."""
    before = review.asked()
    assert before == before | {"POST /leashes": "first", "DELETE /pets/{id}": "always", "GET /pets": "never"}
    done = review.answer(
        {"operation": "POST /leashes", "answer": "always", "by": "a person (Rosa)\nreally", "why": "it may\u202e bite"},
        {"operation": "GET /pets", "answer": "first"},
        {"operation": "DELETE /pets/{id}", "answer": "never", "by": "a person"},
        {"operation": "POST /pets/{id}/sell", "answer": "never"},
    )
    assert done.code == 0
    assert [entry["operation"] for entry in done.json["written"]] == ["POST /leashes", "GET /pets"]
    assert [entry["operation"] for entry in done.json["left"]] == ["DELETE /pets/{id}", "POST /pets/{id}/sell"]
    assert review.asked() == before | {"POST /leashes": "always", "GET /pets": "first"}
    assert review.entries["POST /leashes"] == {
        "asked": "always",
        "why": "answered by an agent (a person (Rosa) really): it may bite",
    }


def test_everything_else_in_the_file_stays(review: Review) -> None:
    review.answer({"operation": "POST /leashes", "answer": "always"}, {"operation": "GET /pets", "answer": "first"})
    text = review.overrides.read_text(encoding="utf-8")
    assert "# the owner's own file\n" in text
    assert "# kept" in text
    assert review.entries["GET /pets"]["name"] == "list_pets"
    again = review.answer({"operation": "POST /leashes", "answer": "always"})
    assert again.json["written"] == []
    assert review.overrides.read_text(encoding="utf-8") == text


def test_a_persons_yes_at_a_terminal_lowers_what_nothing_proves(review: Review, typed: Any) -> None:
    """R-EFF-2"""
    answers = ({"operation": "POST /leashes", "answer": "never"}, {"operation": "DELETE /pets/{id}", "answer": "never"})
    for words in ("y\n", "\n", "no\n"):
        typed(words)
        assert review.answer(*answers, person="Rosa").json["written"] == []
    typed("yes\n")
    done = review.answer(*answers, person="Rosa")
    assert [entry["operation"] for entry in done.json["written"]] == ["POST /leashes"]
    assert "`danger`" in done.json["left"][0]["reason"]
    assert review.entries["POST /leashes"]["why"] == "answered by a person (Rosa), proposed by bot"
    assert review.asked()["POST /leashes"] == "never"
    assert "POST /leashes: first -> never" in done.err


def test_a_person_takes_back_what_an_agent_raised_and_may_leave_a_question_as_it_is(review: Review, typed: Any) -> None:
    review.answer({"operation": "POST /leashes", "answer": "always"})
    typed("yes\n")
    review.answer({"operation": "POST /leashes", "answer": "first"}, person="Rosa")
    assert review.asked()["POST /leashes"] == "first"
    assert "POST /leashes" not in run("explain", review.folder, "--questions").out


def test_an_answer_names_an_operation_as_overrides_do_or_by_its_name(tmp_path: Path) -> None:
    """A project of several APIs has keys with the name of an API, which may be left out if no other has the path."""
    for name in ("pets", "crm"):
        (tmp_path / f"{name}.json").write_text(json.dumps(api({f"/{name}": PATHS["/leashes"], "/all": PATHS["/pets"]})))
    specs = [f"{name}={tmp_path / name}.json" for name in ("pets", "crm")]
    folder = tmp_path / "both"
    assert run("from-openapi", *specs, "-o", folder, "--name", "both").code == 0
    file = tmp_path / "answers.jsonl"
    asked = map(json.loads, run("explain", folder, "--questions").out.splitlines())
    names = {question["operation"]: question["name"] for question in asked}
    for operation, code in (("POST /crm", 0), (names["pets:POST /pets"], 0), ("POST /all", 3)):
        file.write_text(json.dumps({"operation": operation, "answer": "always", "by": "bot"}), encoding="utf-8")
        done = run("review", folder, "--answers", file)
        assert done.code == code, (operation, done.err)
    assert {"crm:POST /crm", "pets:POST /pets"} <= yaml.safe_load((folder / "overrides.yaml").read_text()).keys()


def test_nobody_is_a_person_without_a_terminal(review: Review) -> None:
    before = review.overrides.read_bytes()
    done = review.answer({"operation": "POST /leashes", "answer": "never"}, person="Rosa")
    assert done.code == 3
    assert "needs a terminal" in done.json["error"]["details"][0]["message"]
    assert review.overrides.read_bytes() == before


GOOD = {"operation": "POST /leashes", "answer": "always"}


@each(
    "line, message, column",
    [
        ("{nope", "not valid JSON", 2),
        ("[" * 100_000, "not valid JSON", 1),
        ("[1]", "must be an object", 1),
        ({"answer": "first"}, "needs `operation`", 1),
        ({"operation": "POST /leashes"}, "needs `answer`", 1),
        ({**GOOD, "by": " "}, "needs `by`", 1),
        ({**GOOD, "operation": "POST /leashez"}, "no operation `POST /leashez`", 1),
        ({**GOOD, "answer": "sometimes"}, "`sometimes` is not an answer", 1),
        ({**GOOD, "danger": "safe"}, "has no `danger`", 1),
        (GOOD, "answered twice", 1),
    ],
)
def test_an_answer_that_cannot_be_used_is_named_by_its_place_and_nothing_is_written(
    review: Review, line: Any, message: str, column: int
) -> None:
    done = review.answer(GOOD, line)
    (finding,) = done.json["error"]["details"]
    assert done.code == 3
    assert message in finding["message"]
    assert (finding["code"], finding["line"], finding["column"]) == ("bad-answer", 2, column)
    assert review.overrides.read_text(encoding="utf-8") == OWNERS


def test_answers_that_are_not_there_are_a_file_that_is_not_found(review: Review) -> None:
    assert run("review", review.folder, "--answers", review.folder / "none.jsonl").code == 4
