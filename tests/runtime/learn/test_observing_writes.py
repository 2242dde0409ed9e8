"""An observation that writes finds what updates and creates do, and leaves the API as it was (R-LEARN-2)."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
from os import kill
from pathlib import Path
from typing import Any

import pytest
from local import Answer, Asked, serving
from writable import PATHS, PET, PETS, Shop, changing, creating, dumped, item, lines, listed, observing, written

from aqlgen.runtime.cli import main
from aqlgen.runtime.learn.ledger import Ledger
from aqlgen.runtime.learn.things import Named
from tests.cases import each
from tests.documents import TEXT, parameter


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("package"), PATHS)


KEYED = json.loads(json.dumps({"/pets": PATHS["/pets"], PETS: PATHS[PETS]}))
KEYED["/pets"]["post"]["parameters"] = [parameter("X-Key", "header", description="Idempotency key of the request")]

FACTS: dict[str, tuple[Shop, str]] = {
    "a PUT that keeps": (Shop(), f"PUT {PETS}: It keeps omitted fields"),
    "and is proposed": (Shop(), '{"send": "named"}'),
    "a PUT that nulls": (Shop(put="nulls"), f"PUT {PETS}: It loses omitted fields: 'age', 'note', 'place'"),
    "a PUT that defaults": (Shop(put="defaults"), f"PUT {PETS}: It loses omitted fields"),
    "a PUT that refuses the whole": (Shop(put="refuses"), "it refuses the whole resource as read, with 422"),
    "a PATCH": (Shop(), f"PATCH {PETS}: It keeps omitted fields"),
    "both media types": (Shop(), "takes a change as 'application/json', 'application/merge-patch+json'"),
    "one media type": (
        Shop(merges=("application/merge-patch+json",)),
        '{"content_type": "application/merge-patch+json"}',
    ),
    "a computed field": (Shop(computes=True), f"PUT {PETS}: The API computes or changes 'age' by itself"),
    "a duplicate": (Shop(), "POST /pets: A second identical create makes a duplicate"),
    "a conflict": (Shop(repeats="refused"), "POST /pets: A second identical create is refused with 409"),
    "a delete": (Shop(), "reverts it: afterwards it is neither read nor listed"),
    "a thing within another": (Shop(), f"POST {PETS}/toys: A second identical create makes a duplicate"),
}


@each("name", FACTS)
def test_what_writes_do_is_found_and_the_api_is_left_as_it_was(name: str, tmp_path: Path, package: Path) -> None:
    """R-LEARN-2"""
    shop, fact = FACTS[name]
    before = dumped(shop)
    with serving(shop.answer) as local:
        texts = lines(observing(package, local.url, tmp_path / "ledger"))
    assert any(fact in line for line in texts), texts
    assert dumped(shop) == before
    assert not (tmp_path / "ledger").read_bytes()


ACCOUNT = {
    "type": "object",
    "required": ["login", "password"],
    "properties": {
        "login": {**TEXT, "pattern": "^[a-z]+$", "example": "ann"},
        "note": TEXT,
        "password": {**TEXT, "format": "password"},
    },
}
ACCOUNTS = {
    "/users": {"get": listed(PET), "post": creating(ACCOUNT)},
    "/users/{id}": item("id", ACCOUNT, put=changing({**ACCOUNT, "required": []}, ACCOUNT)),
}


def test_what_gives_access_is_made_only_by_a_create_that_the_owner_names(tmp_path: Path) -> None:
    """R-LEARN-2: with a password that nobody knows; a killed run is undone without naming it again."""
    package, shop = written(tmp_path / "package", ACCOUNTS), Shop(deletes=False)
    with serving(shop.answer) as local:
        observing(package, local.url, tmp_path / "ledger")
        assert not local.asked
        texts = lines(observing(package, local.url, tmp_path / "ledger", creates=["create_user"]))
        assert any("PUT /users/{id}: It keeps omitted fields" in line for line in texts), texts
        passwords = {json.loads(request.body)["password"] for request in local.asked if request.method == "POST"}
        assert all(len(password) > 20 for password in passwords)
        assert not any(password in (tmp_path / "ledger").read_text() for password in passwords)
        shop.deletes = True
        observing(package, local.url, tmp_path / "ledger", only_back=True)
        with pytest.raises(ValueError, match="pay makes nothing that can be read"):
            observing(package, local.url, tmp_path / "ledger", creates=["pay"])
    assert list(shop.things) == ["/pets/1"]


def test_what_only_names_is_all_that_is_observed_so_nothing_is_created_beside_it(
    tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """R-LEARN-2"""
    monkeypatch.setenv("MCP_AQL_STATE_URL", f"sqlite:///{tmp_path / 'state'}")
    only = ["learn", "--allow-writes", "--only", "list_pets"]
    with serving(Shop().answer) as local:
        monkeypatch.setenv("MCP_AQL_BASE_URL", local.url)
        assert main(package, None, only) == 0, capsys.readouterr().err
        assert {request.method for request in local.asked} == {"GET"}
        assert main(package, None, [*only, "--make", "create_pet"]) == 0, capsys.readouterr().err
        assert {request.path for request in local.asked if request.method == "POST"} == {"/pets"}
    assert main(package, None, [*only, "--plan"]) == 0
    assert "Nothing else is created: --only is set." in capsys.readouterr().out


def test_a_type_that_a_put_takes_beyond_its_document_is_proposed(tmp_path: Path) -> None:
    """R-LEARN-2: the resource is written as it was read, and is read as it was written."""
    shop = Shop()
    shop.things["/pets/1"]["age"] = "three"
    before = dumped(shop)
    with serving(shop.answer) as local:
        package = written(tmp_path / "package", {PETS: PATHS[PETS]})
        seen = observing(package, local.url, tmp_path / "ledger", ["pets/{petId}=1"])
    (types,) = [each for each in seen if each.key.startswith("PUT") and "parameters" in each.override]
    assert (types.override["parameters"], types.certain) == ({"age": {"type": ["integer", "string"]}}, True)
    assert dumped(shop) == before


UUID = "6f9619ff-8b86-4d01-b42d-00c04fc964ff"


@each("status, is_found", [(400, True), (404, True), (422, False)])
def test_an_update_that_takes_another_identifier_than_its_read_is_sent_without_it(
    status: int, is_found: bool, tmp_path: Path
) -> None:
    """R-LEARN-2: a refusal is about the identifier if a random UUID is only missed; nothing else is written to."""
    paths = {"/pets": PATHS["/pets"], PETS: {key: PATHS[PETS][key] for key in ("parameters", "get", "delete", "put")}}
    shop, written_to = Shop(), list[str]()

    def answer(request: Asked) -> Any:
        name = request.path.rpartition("/")[2]
        if request.method == "PUT":
            written_to.append(name)
            return Answer({}, status if "learn" in name or not is_found else 404)
        if request.path == f"/pets/{UUID}":
            return Answer({}, 404)
        pets = {pet["name"]: key for key, pet in shop.things.items()}
        reply = shop.answer(request._replace(path=pets.get(name, request.path)))
        is_pet = isinstance(reply.body, dict) and "name" in reply.body
        return reply._replace(body={**reply.body, "id": UUID}) if is_pet else reply

    with serving(answer) as local:
        seen = observing(written(tmp_path / "package", paths), local.url, tmp_path / "ledger")
    sends = [each for each in seen if each.override == {"send": "named"}]
    assert [(each.key, each.certain) for each in sends] == ([(f"PUT {PETS}", True)] if is_found else [])
    assert UUID not in written_to
    assert list(shop.things) == ["/pets/1"]
    assert not (tmp_path / "ledger").read_bytes()


def test_a_key_that_the_api_honours_is_told(tmp_path: Path) -> None:
    """R-LEARN-2"""
    KEYED["/pets"]["post"]["parameters"][0]["name"] = "Idempotency-Key"
    package, shop = written(tmp_path / "package", KEYED), Shop(repeats="keyed")

    def answer(request: Asked) -> Any:
        return shop.answer(
            request._replace(headers={"x-key": request.headers.get("idempotency-key", ""), **request.headers})
        )

    with serving(answer) as local:
        texts = lines(observing(package, local.url, tmp_path / "ledger"))
    assert any("with the same idempotency key answers with the same thing" in line for line in texts), texts
    assert list(shop.things) == ["/pets/1"]


@each("put", ["keeps", "nulls", "defaults"])
def test_a_resource_of_the_owner_is_written_back_as_it_was(put: str, tmp_path: Path, package: Path) -> None:
    """R-LEARN-2"""
    shop = Shop(put=put)
    before = dumped(shop)
    with serving(shop.answer) as local:
        texts = lines(observing(package, local.url, tmp_path / "ledger", ["pets/{petId}=1"]))
        methods = {request.method for request in local.asked if request.path == "/pets/1"}
    assert {"PUT", "PATCH"} <= methods
    assert "DELETE" not in methods
    assert dumped(shop) == before, texts


def test_a_resource_with_fields_that_cannot_be_read_is_not_written(tmp_path: Path) -> None:
    """R-LEARN-2"""
    paths = json.loads(json.dumps({PETS: PATHS[PETS]}))
    secret = {"type": "object", "properties": {"name": {"type": "string"}, "pin": {"type": "string"}}}
    paths[PETS]["put"]["requestBody"]["content"]["application/json"]["schema"] = secret
    shop = Shop(put="nulls")
    with serving(shop.answer) as local:
        texts = lines(observing(written(tmp_path / "package", paths), local.url, tmp_path / "ledger", ["/pets/{x}=1"]))
        methods = [request.method for request in local.asked]
    assert any("could not be restored: 'pin' cannot be read" in line for line in texts), texts
    assert "PUT" not in methods


def test_nothing_is_made_that_no_delete_takes_away_or_that_does_more_than_data(tmp_path: Path) -> None:
    """R-LEARN-2"""
    paths = json.loads(json.dumps({"/pets": PATHS["/pets"], PETS: PATHS[PETS]}))
    del paths[PETS]["delete"]
    people = json.loads(json.dumps(PATHS["/pets"]).replace('"note"', '"email"'))
    paths |= {
        "/members": people,
        "/members/{id}": PATHS[PETS]
        | {"parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]},
    }
    paths |= {"/payments": PATHS["/pets"], "/payments/{id}": paths["/members/{id}"]}
    shop = Shop()
    with serving(shop.answer) as local:
        observing(written(tmp_path / "package", paths), local.url, tmp_path / "ledger")
        assert not [request for request in local.asked if request.method != "GET"]


def test_a_delete_that_does_nothing_is_told_with_what_to_look_for(tmp_path: Path, package: Path) -> None:
    """R-LEARN-2"""
    shop = Shop(deletes=False)
    with serving(shop.answer) as local:
        texts = lines(observing(package, local.url, tmp_path / "ledger"))
        left = [thing for key, thing in shop.things.items() if key != "/pets/1"]
        marks = {thing.get("name", thing.get("label", "")).split("-")[2] for thing in left}
        assert all(any(mark in line and str(tmp_path / "ledger") in line for line in texts) for mark in marks), texts
        shop.deletes = True
        again = lines(observing(package, local.url, tmp_path / "ledger", only_back=True))
    assert list(shop.things) == ["/pets/1"], again


@each("most", [3, 5, 8, 13, 21])
def test_what_a_spent_budget_leaves_is_taken_away_by_the_next_run(most: int, tmp_path: Path, package: Path) -> None:
    """R-LEARN-2"""
    shop = Shop()
    before = dumped(shop)
    with serving(shop.answer) as local:
        observing(package, local.url, tmp_path / "ledger", most=most)
        observing(package, local.url, tmp_path / "ledger", only_back=True)
    assert dumped(shop) == before


RUNNER = """
import os, sys
from pathlib import Path
sys.path[:0] = {paths!r}
from writable import observing
import aqlgen.runtime.client.transport, aqlgen.runtime.hosts.gate  # before the forks
for line in sys.stdin:
    url, ledger = line.split()
    child = os.fork()
    if not child:
        observing(Path({package!r}), url, Path(ledger), ["pets/{{petId}}=1"])
        os._exit(0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


class Killing:
    """Kills the process that observes at its N-th request, before or after the request is carried out."""

    def __init__(self, number: int, *, is_done: bool) -> None:
        self.number, self.is_done, self.count = number, is_done, 0
        self.process, self.known = 0, threading.Event()

    def seen(self, request: Asked, done: bool) -> None:
        self.count += not done
        if self.count == self.number and done == self.is_done:
            assert self.known.wait(10)
            kill(self.process, signal.SIGKILL)


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by signals")
def test_a_killed_observation_is_undone_by_the_next_run(tmp_path: Path, package: Path) -> None:
    """R-LEARN-2"""
    folder = Path(__file__).parent
    source = RUNNER.format(paths=[str(folder), str(folder.parent), str(folder.parents[2])], package=str(package))
    runner = subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert runner.stdin is not None
    assert runner.stdout is not None
    chance = random.Random(33)
    try:
        for case in range(20):
            killing = Killing(chance.randint(1, 75), is_done=chance.random() < 0.5)
            shop = Shop(put=chance.choice(["keeps", "nulls", "defaults"]), seen=killing.seen)
            before, ledger = dumped(shop), tmp_path / f"ledger{case}"
            with serving(shop.answer) as local:
                runner.stdin.write(f"{local.url} {ledger}\n")
                runner.stdin.flush()
                killing.process = int(runner.stdout.readline())
                killing.known.set()
                assert int(runner.stdout.readline()) == signal.SIGKILL, killing.count
                killing.number = -1
                texts = lines(observing(package, local.url, ledger, only_back=True))
            assert dumped(shop) == before, (case, killing.number, texts)
            assert not ledger.read_bytes()
    finally:
        runner.stdin.close()
        runner.wait(20)


def test_a_ledger_is_of_one_process_and_forgets_a_line_that_was_broken_off(tmp_path: Path) -> None:
    """R-LEARN-2"""
    path = tmp_path / "state" / "ledger"
    ledger = Ledger(path)
    entry = ledger.begin(operation="create_pet", base="b", values=("1",), marker="m", fields=("name",))
    with pytest.raises(ValueError, match="another process observes"):
        Ledger(path)
    ledger.close()
    path.write_bytes(path.read_bytes() + b'{"number": 2, "operat')
    again = Ledger(path)
    assert again.entries == {1: entry}
    assert again.begin(operation="create_pet", base="b", values=()).number == 2
    again.close()
    assert len(Ledger(path).entries) == 2
    assert path.stat().st_mode & 0o777 == 0o600


@each(
    "text, path, values",
    [
        ("pets/{petId}=7", "/pets/{petId}", ("7",)),
        ("/a/{x}/b/{y}/=1,two", "/a/{x}/b/{y}", ("1", "two")),
        ("/a/{x}.json=1", "", ()),
        ("pets/7", "", ()),
        ("pets/{petId}=", "", ()),
        ("pets/{petId}=../owners", "", ()),
        ("pets/{petId}=a/b", "", ()),
        ("pets/{a}/{b}=1", "", ()),
    ],
)
def test_a_resource_of_the_owner_is_named_exactly(text: str, path: str, values: tuple[str, ...]) -> None:
    """R-LEARN-2"""
    if not path:
        with pytest.raises(ValueError, match="names no resource"):
            Named.read(text)
    else:
        assert Named.read(text) == Named(path, values)
