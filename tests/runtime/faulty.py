"""An API that fails in every way that a server can, a path for each; imports nothing of pytest or of the runtime.

`python faulty.py FOLDER` writes a package of one operation for each fault into FOLDER, serves them, and prints "ready"
once it does; it ends with its standard input.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import ssl
import struct
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

SECRET = "planted-c0ffee-credential"
VARIABLE = "FAULTY_KEY"
INTERNAL, LIMITED, TOO_LARGE = "INTERNAL_ERROR", "RATE_LIMIT_EXCEEDED", "VALIDATION_PAYLOAD_TOO_LARGE"
FINE = "success"
GIGABYTE = 1 << 30
TICK = 0.02

Write = asyncio.StreamWriter
Handler = Callable[["Request", Write], Awaitable[None]]


@dataclass(frozen=True)
class Request:
    """A request: the name of the fault, the head as it was sent, and how often that fault was asked for."""

    name: str
    head: bytes
    count: int


class Fault(NamedTuple):
    """A way to fail: the expected code, the failing handler, the method, and the most requests of a call."""

    expected: str
    handler: Handler | None = None
    method: str = "GET"
    most: int = 20


def _answer(body: bytes = b"", status: str = "200 OK", **headers: Any) -> bytes:
    headers = {"content_type": "application/json", "content_length": len(body), **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items() if value is not None]
    return (
        f"HTTP/1.1 {status}\r\n{chr(10).join(lines)}\r\n\r\n".replace("\n", "\r\n").replace("\r\r", "\r").encode()
        + body
    )


def _says(body: bytes = b"", status: str = "200 OK", **headers: Any) -> Handler:
    async def handler(_: Request, writer: Write) -> None:
        writer.write(_answer(body, status, **headers))

    return handler


def _raw(data: bytes) -> Handler:
    async def handler(_: Request, writer: Write) -> None:
        writer.write(data)

    return handler


def _forever(piece: bytes, begin: bytes = b"", pause: float = TICK) -> Handler:
    async def handler(_: Request, writer: Write) -> None:
        writer.write(begin)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return handler


def _reset(begin: bytes = b"") -> Handler:
    async def handler(_: Request, writer: Write) -> None:
        writer.write(begin)
        with suppress(ConnectionError):
            await writer.drain()
        if begin:
            await asyncio.sleep(TICK)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return handler


async def _silent(_: Request, writer: Write) -> None:
    await asyncio.sleep(60)


async def _round(request: Request, writer: Write) -> None:
    writer.write(_answer(status="302 Found", location=f"/{request.name}?n={request.count}"))


async def _elsewhere(request: Request, writer: Write) -> None:
    port = writer.get_extra_info("sockname")[1]
    writer.write(_answer(status="302 Found", location=f"http://localhost:{port}/echo_back"))


async def _reflected(request: Request, writer: Write) -> None:
    port = writer.get_extra_info("sockname")[1]
    writer.write(_answer(status="302 Found", location=f"http://localhost:{port}/echo_back?key={SECRET}"))


async def _between(request: Request, writer: Write) -> None:
    port = writer.get_extra_info("sockname")[1]
    host = "localhost" if request.count % 2 else "127.0.0.1"
    writer.write(_answer(status="307 Temporary Redirect", location=f"http://{host}:{port}/{request.name}"))


async def _echo(request: Request, writer: Write) -> None:
    writer.write(_answer(json.dumps({"heard": request.head.decode("latin-1")}).encode()))


async def _echo_error(request: Request, writer: Write) -> None:
    body = json.dumps({"message": f"I do not like {request.head.decode('latin-1')}"}).encode()
    writer.write(_answer(body, "401 Unauthorized", www_authenticate=f'Bearer scope="{SECRET}"'))


JSON = b'{"id": 1}'
LONG = _answer(content_length=GIGABYTE)
CHUNKED = _answer(content_length=None, transfer_encoding="chunked")
CHUNK = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
HTML = b"<!DOCTYPE html><html><body>Please log in</body></html>"


def _packed(*pieces: tuple[bytes, int]) -> bytes:
    """Compress pieces by gzip, each so many times over, in the time that one of each takes."""
    packer, packed, check, size = zlib.compressobj(9, wbits=-15), b"", 0, 0
    for piece, count in pieces:
        packed += (packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)) * count
        for _ in range(count):
            check = zlib.crc32(piece, check)
        size += len(piece) * count
    trailer = struct.pack("<II", check, size % (1 << 32))
    return gzip.compress(b"")[:10] + packed + packer.flush() + trailer


async def _bomb(_: Request, writer: Write) -> None:
    writer.write(_answer(_packed((b" " * (1 << 20), 1 << 8)) * 4, content_encoding="gzip"))


async def _dense(_: Request, writer: Write) -> None:
    lists = _packed((b"[", 1), (b"[]," * 1_000_000, 13), (b"[]]", 1))
    writer.write(_answer(lists, content_encoding="gzip"))


FAULTS: dict[str, Fault] = {
    "refused": Fault(INTERNAL),
    "refused_write": Fault(INTERNAL, None, "POST"),
    "reset": Fault(INTERNAL, _reset(), most=3),
    "reset_write": Fault(INTERNAL, _reset(), "POST", 1),
    "reset_in_body": Fault(INTERNAL, _reset(_answer(content_length=100) + b"{"), most=3),
    "hung_up": Fault(INTERNAL, _raw(b""), most=3),
    "hung_up_put": Fault(INTERNAL, _raw(b""), "PUT", 1),
    "slow_headers": Fault(INTERNAL, _silent, most=1),
    "dripping_headers": Fault(INTERNAL, _forever(b"a", b"HTTP/1.1 200 OK\r\nx-a: "), most=1),
    "endless_headers": Fault(INTERNAL, _forever(b"x-a: b\r\n" * 1000, b"HTTP/1.1 200 OK\r\n", 0)),
    "endless_informational": Fault(INTERNAL, _forever(b"HTTP/1.1 102 Processing\r\n\r\n"), most=1),
    "slow_body": Fault(INTERNAL, _forever(b" ", _answer(content_length=1_000_000)), most=1),
    "slow_chunks": Fault(INTERNAL, _forever(b"1\r\n \r\n", CHUNKED), most=1),
    "slow_error": Fault(INTERNAL, _forever(b" ", LONG.replace(b"200 OK", b"500 Broken")), most=1),
    "truncated": Fault(INTERNAL, _raw(_answer(content_length=100) + JSON), most=3),
    "truncated_chunks": Fault(INTERNAL, _raw(CHUNKED + CHUNK), most=3),
    "broken_chunks": Fault(INTERNAL, _raw(CHUNKED + b"not hexadecimal\r\n"), most=3),
    "length_too_short": Fault(INTERNAL, _raw(_answer(content_length=4) + JSON), most=1),
    "length_twice": Fault(
        INTERNAL, _raw(_answer(JSON).replace(b"\r\n\r\n", b"\r\ncontent-length: 3\r\n\r\n", 1)), most=3
    ),
    "length_negative": Fault(INTERNAL, _raw(_answer(content_length=-5) + JSON), most=3),
    "huge": Fault(TOO_LARGE, _forever(b" " * 0x10000, LONG, 0), most=1),
    "huge_chunks": Fault(TOO_LARGE, _forever(CHUNK, CHUNKED, 0), most=1),
    "huge_bytes": Fault(TOO_LARGE, _forever(CHUNK, CHUNKED.replace(b"application/json", b"image/png"), 0), most=1),
    "huge_error": Fault(INTERNAL, _forever(b" " * 0x10000, LONG.replace(b"200 OK", b"500 Broken"), 0), most=1),
    "dense_json": Fault(TOO_LARGE, _dense, most=1),
    "gzip_bomb": Fault(TOO_LARGE, _bomb, most=1),
    "gzip_broken": Fault(INTERNAL, _says(gzip.compress(JSON)[:-6] + b"......", content_encoding="gzip"), most=1),
    "gzip_truncated": Fault(INTERNAL, _says(gzip.compress(JSON * 9)[:-12], content_encoding="gzip"), most=1),
    "coding_unasked": Fault(INTERNAL, _says(JSON, content_encoding="br"), most=1),
    "endless_redirect": Fault(INTERNAL, _round, most=6),
    "redirect_between_hosts": Fault(INTERNAL, _between, most=6),
    "redirect_to_another_host": Fault(FINE, _elsewhere, most=1),
    "redirect_with_the_secret": Fault(INTERNAL, _reflected, most=1),
    "redirect_nowhere": Fault(INTERNAL, _says(status="302 Found", location="https://[bad"), most=1),
    "redirect_to_a_file": Fault(INTERNAL, _says(status="302 Found", location="file:///etc/passwd"), most=1),
    "tls_invalid": Fault(INTERNAL),
    "tls_absent": Fault(INTERNAL),
    "storm_429": Fault(LIMITED, _says(b"{}", "429 Too Many Requests", retry_after=60), most=1),
    "storm_429_silent": Fault(LIMITED, _says(b"{}", "429 Too Many Requests"), most=3),
    "storm_429_write": Fault(LIMITED, _says(b"{}", "429 Too Many Requests"), "POST", 1),
    "storm_503": Fault(INTERNAL, _says(HTML, "503 Unavailable", retry_after=0, content_type="text/html"), most=3),
    "storm_503_silent": Fault(INTERNAL, _says(b"", "503 Unavailable"), most=3),
    "storm_503_write": Fault(INTERNAL, _says(b"", "503 Unavailable"), "POST", 1),
    "html": Fault(FINE, _says(HTML, content_type="text/html; charset=utf-8"), most=1),
    "html_as_json": Fault(FINE, _says(HTML), most=1),
    "broken_json": Fault(INTERNAL, _says(b'{"id": 1'), most=1),
    "deep_json": Fault(FINE, _says(b"[" * 100_000), most=1),
    "quite_deep_json": Fault(FINE, _says(b"[" * 500 + b"]" * 500), most=1),
    "half_surrogates": Fault(FINE, _says(b'{"\\ud800": "\\udfff"}'), most=1),
    "not_utf8": Fault(FINE, _says(b'{"id": "\xff\xfe"}'), most=1),
    "garbage": Fault(INTERNAL, _raw(b"\x00\x01\x02SSH-2.0-OpenSSH\r\n\r\n"), most=3),
    "odd_status": Fault(INTERNAL, _says(b"{}", "999 Odd"), most=1),
    "endless_events": Fault(
        FINE, _forever(b"data: {}\n\n", b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"), most=1
    ),
    "echo": Fault(FINE, _echo, most=1),
    "echo_error": Fault("PERMISSION_DENIED", _echo_error, most=1),
    "echo_back": Fault(FINE, _echo, most=2),
}


@dataclass
class Broken:
    """The servers: `ports` by kind, and how often each fault was asked for."""

    ports: dict[str, int] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)

    async def serve(self, connected: asyncio.StreamReader, writer: Write) -> None:
        """Answer one connection with one fault."""
        try:
            head = await connected.readuntil(b"\r\n\r\n")
            name = head.split(b" ", 2)[1].decode().strip("/").partition("?")[0]
            self.seen[name] += 1
            handler = FAULTS[name].handler
            if handler is not None:
                await handler(Request(name, head, self.seen[name]), writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, KeyError, ssl.SSLError):
            pass
        finally:
            with suppress(Exception):
                writer.close()

    async def listen(self, certificate: Path | None) -> list[asyncio.Server]:
        """Open the servers."""
        plain = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.ports["plain"] = plain.sockets[0].getsockname()[1]
        servers = [plain]
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            secure = await asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=context)
            self.ports["tls"] = secure.sockets[0].getsockname()[1]
            servers.append(secure)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.ports["closed"] = free.getsockname()[1]
        return servers


def self_signed(folder: Path) -> Path | None:
    """Make a certificate that nobody trusts; None where openssl is missing."""
    key, certificate, both = folder / "key.pem", folder / "certificate.pem", folder / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    try:
        subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    both.write_bytes(key.read_bytes() + certificate.read_bytes())
    return both


def write_package(folder: Path, ports: dict[str, int]) -> Path:
    """Write a package with one operation for each fault that can be served; return its folder."""
    places = {
        "refused": f"http://127.0.0.1:{ports['closed']}",
        "refused_write": f"http://127.0.0.1:{ports['closed']}",
        "tls_invalid": f"https://127.0.0.1:{ports.get('tls')}",
        "tls_absent": f"https://127.0.0.1:{ports['plain']}",
    }
    rows: dict[str, dict[str, Any]] = {"create": {}, "read": {}, "update": {}, "delete": {}, "execute": {}}
    for name, fault in FAULTS.items():
        if name == "tls_invalid" and "tls" not in ports:
            continue
        family = {"GET": "read", "POST": "execute", "PUT": "update"}[fault.method]
        rows[family][name] = {
            "summary": f"Fail: {name}",
            "method": fault.method,
            "path": f"/{name}",
            "resource": "fault",
            "verb": "get",
            "danger": "safe",
            "parameters": {},
            "responses": {"200": {"content_type": "application/json", "schema": {}}},
            "returns": {"name": "any", "kind": "scalar"},
            "example": {},
            "servers": [{"url": places.get(name, f"http://127.0.0.1:{ports['plain']}")}],
        }
    (folder / "operations").mkdir(parents=True)
    for family, some in rows.items():
        (folder / "operations" / f"{family}.json").write_text(json.dumps(some))
    (folder / "types.json").write_text("{}")
    (folder / "mock.json").write_text("{}")
    key = {"type": "http", "scheme": "bearer", "variables": [VARIABLE], "description": ""}
    about = {
        "format": 1,
        "name": "faulty",
        "package": "faulty_adapter",
        "title": "Faulty API",
        "description": "",
        "version": "0.1.0",
        "api_version": "1",
        "spec_version": "1.0.0-draft",
        "generator": "aqlgen",
        "field_case": "snake",
        "servers": [],
        "accepted": {
            "hosts": [
                *(row["servers"][0]["url"] for some in rows.values() for row in some.values()),
                f"http://localhost:{ports['plain']}",
            ]
        },
        "security": [["key"]],
        "security_schemes": {"key": key},
        "counts": {family: len(some) for family, some in rows.items()},
        "quick_start": {family: next(iter(some)) for family, some in rows.items() if some},
    }
    (folder / "adapter.json").write_text(json.dumps(about))
    return folder


async def serve(folder: Path) -> None:
    """Write the package to `folder`/faulty_adapter and serve until standard input ends."""
    broken = Broken()
    servers = await broken.listen(self_signed(folder))
    write_package(folder / "faulty_adapter", broken.ports)
    print("ready", flush=True)  # noqa: T201
    await asyncio.to_thread(sys.stdin.read)
    for server in servers:
        server.close()
    print(json.dumps(broken.seen), flush=True)  # noqa: T201


@contextmanager
def serving(folder: Path) -> Iterator[dict[str, int]]:
    """Serve in a process of its own; the yielded dict holds, once done, how often each fault was asked for."""
    seen: dict[str, int] = {}
    command = [sys.executable, str(Path(__file__)), str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield seen
        finally:
            process.stdin.close()
            seen.update(json.loads(process.stdout.readline() or "{}"))


if __name__ == "__main__":
    try:
        asyncio.run(serve(Path(sys.argv[1])))
    except KeyboardInterrupt:
        sys.exit(1)
