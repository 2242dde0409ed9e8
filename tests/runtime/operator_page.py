"""The operator's page over stores of its own, served in a thread, and raw requests to it. It imports no pytest."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from aqlgen.runtime.operator.actions import Actions
from aqlgen.runtime.operator.feed import Feed
from aqlgen.runtime.operator.guard import Admission, Guard
from aqlgen.runtime.operator.reading import Source
from aqlgen.runtime.operator.serve import Page
from aqlgen.runtime.safety.audit import Audit
from aqlgen.runtime.safety.questions import Challenge, Question, QuestionStore
from aqlgen.runtime.server.http import uvicorn_config
from aqlgen.runtime.settings.tables import HttpSettings
from aqlgen.runtime.state.custody import Custody
from aqlgen.runtime.state.sqlite import SqliteState, SqliteStore
from tests.runtime.quick_server import Server


class Answer(NamedTuple):
    """An answer as it came: the status, the headers in lower case, the body. A closed connection has status 0."""

    status: int
    headers: dict[str, list[str]]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as data."""
        return json.loads(self.body)

    def header(self, name: str) -> str:
        """Return the value of a header, "" for none."""
        return ", ".join(self.headers.get(name, []))


def read_answer(data: bytes) -> Answer:
    """Read what a server has sent."""
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers: dict[str, list[str]] = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers.setdefault(name.strip().lower(), []).append(value.strip())
    return Answer(int(lines[0].split()[1]) if len(lines[0].split()) > 1 else 0, headers, body)


class Served:
    """A page that is served on a port of its own."""

    def __init__(self, source: Source, *, interval: float = 0.05) -> None:
        self.source = source
        self.admission = Admission()
        self.errors: list[Exception] = []
        self.feed = Feed(source, lambda _, error: self.errors.append(error), interval=interval)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.host = f"127.0.0.1:{self.port}"
        page = Page(self.admission, self.feed, Actions(source, "operator:anna"), self.port)
        settings = HttpSettings(stop_timeout=1.0, head_timeout=1.0, body_timeout=1.0, max_connections=40)
        self._server = Server(uvicorn_config(Guard(page, (self.host,)), settings))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self.listener]}, daemon=True)
        self.cookie = self.token = ""

    @property
    def address(self) -> str:
        """A new address, good once."""
        return f"http://{self.host}/#{self.admission.new_key()}"

    def start(self) -> Served:
        """Begin to serve."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End it, as a person does at the terminal."""
        self.feed.stop()
        self._server.should_exit = True
        self._thread.join(10)
        self.listener.close()

    def enter(self) -> None:
        """Open a session, whose secrets `send` uses from then on."""
        answer = self.send("POST", "/api/enter", {"key": self.admission.new_key()})
        self.cookie = answer.header("set-cookie").partition(";")[0]
        self.token = answer.json["token"]

    def connection(self) -> socket.socket:
        """Return a connection to it."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def raw(self, request: bytes) -> Answer:
        """Send bytes, and return what comes until the server closes the connection or answers in full."""
        with self.connection() as connection:
            connection.sendall(request)
            data = b""
            while True:
                try:
                    more = connection.recv(65536)
                except ConnectionResetError:
                    break
                data += more
                if not more or (_is_whole(data) and not request.startswith(b"HEAD")):
                    break
        return read_answer(data)

    def send(
        self,
        method: str = "GET",
        path: str = "/",
        body: Any = None,
        *,
        drop: Iterable[str] = (),
        add: Iterable[tuple[str, str]] = (),
        **headers: str,
    ) -> Answer:
        """Send a request as the page's own scripts do, but for what is changed, dropped or added."""
        return self.raw(self.request(method, path, body, drop=drop, add=add, **headers))

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        drop: Iterable[str] = (),
        add: Iterable[tuple[str, str]] = (),
        **headers: str,
    ) -> bytes:
        """Return the bytes of a request."""
        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        usual = {"host": self.host, "connection": "close", "sec-fetch-site": "same-origin"}
        if path.startswith("/api/"):
            usual |= {"sec-fetch-dest": "empty", "x-operator-token": self.token, "cookie": self.cookie}
        if method == "POST":
            usual |= {"origin": f"http://{self.host}", "content-type": "application/json"}
            usual["content-length"] = str(len(content))
        usual |= {name.replace("_", "-"): value for name, value in headers.items()}
        pairs = [(name, value) for name, value in usual.items() if name not in set(drop) and value != ""]
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in [*pairs, *add])]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + content

    def state(self, seconds: float = 5.0, *, until: Any = None) -> dict[str, Any]:
        """Follow the stream until a condition on the sections holds, and return them all."""
        sections: dict[str, Any] = {}
        wanted = until or (lambda known: "log" in known)
        deadline = time.monotonic() + seconds
        with self.connection() as connection:
            connection.sendall(self.request("GET", "/api/events"))
            data = b""
            while time.monotonic() < deadline:
                data += connection.recv(65536)
                *events, data = data.split(b"\n\n")
                for event in events:
                    text = event[event.find(b"data: ") + 6 :] if b"data: " in event else b"{}"
                    sections |= json.loads(text).get("sections", {})
                if wanted(sections):
                    return sections
        raise TimeoutError(sections)

    def act(self, do: str, item: dict[str, Any], **more: Any) -> Answer:
        """Do something about an item as it was shown."""
        request = {"do": do, "id": item["id"], "digest": item["digest"], **more}
        return self.send("POST", "/api/act", request)


def _is_whole(data: bytes) -> bool:
    head, separator, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return bool(separator) and bool(lengths) and len(body) >= int(lengths[0].split(b":")[1])


def source_at(folder: Path, name: str = "zoo") -> Source:
    """Return an adapter with a state in a folder as a user has it."""
    home = folder / f"{name}-adapter"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    custody = Custody(SqliteStore(SqliteState(home / "state.sqlite3")), name)
    audit = Audit(home / "audit.jsonl", adapter=name)
    return Source(name, custody, audit)


def page_at(folder: Path, **options: Any) -> Served:
    """Return the page of one adapter."""
    return Served(source_at(folder), **options)


def matter(id: str = "m1", **changes: Any) -> Question:
    """Return a question."""
    now = time.time()
    values: dict[str, Any] = {
        "kind": "call",
        "title": "Delete animal 7?",
        "question": "Delete animal 7? This cannot be undone.",
        "operations": ("delete_animal",),
        "danger": "destructive",
        "asked": now,
        "expires": now + 300,
        "session": "session_1",
    }
    return Question(id=id, **{**values, **changes})


def challenge(id: str = "c1", **changes: Any) -> Challenge:
    """Return a challenge."""
    now = time.time()
    values: dict[str, Any] = {
        "agent": "deployer",
        "caller": "",
        "tier": "danger_zone",
        "action": "drop everything",
        "reason": "it matches 'drop*'",
        "asked": now,
        "expires": now + 300,
    }
    return Challenge(id=id, **{**values, **changes})


def run(step: Any) -> Any:
    """Run a step on the stores from outside of the server."""
    return asyncio.run(step)


def desk_at(folder: Path, name: str = "zoo") -> QuestionStore:
    """Return the questions of an adapter, as another process has it."""
    return source_at(folder, name).questions
