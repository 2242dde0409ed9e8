"""Every kind of content that an answer may carry comes back as data."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest

from aqlgen.runtime.client.retries import Timing
from aqlgen.runtime.client.transport import HttpTransport
from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.wire import ApiRequest, ApiResponse
from tests.cases import each
from tests.runtime.api.test_client import at_once

from .hand_made import STRING, Make, operation

TYPES = {"Pet": {"type": "object", "properties": {"pet_id": {"type": "integer", "x-name": "petId"}}}}
PET = {"$ref": "#/types/Pet"}


class Drip(httpx2.AsyncByteStream):
    """A body that comes in pieces; an exception among them is raised, a number is waited for."""

    def __init__(self, pieces: Sequence[bytes | Exception | float]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, bytes):
                yield piece
            else:
                await asyncio.sleep(piece)


SMALL = Config(max_response_size=10_000)


def receive(
    *pieces: bytes | Exception | float,
    status: int = 200,
    method: str = "GET",
    config: Config = SMALL,
    timeout: float = 5,
    row: Any = None,
    **headers: str,
) -> ApiResponse:
    """Return the response of an API that sends these pieces."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    handler = httpx2.MockTransport(lambda _: httpx2.Response(status, headers=named, stream=Drip(pieces)))

    async def run() -> ApiResponse:
        transport = HttpTransport(
            config._replace(timeout=timeout, retries=0), transport=handler, timing=Timing(pause=at_once)
        )
        try:
            return await transport.send(ApiRequest(method, "https://api.example.com/a/end.bin"), row)
        finally:
            await transport.aclose()

    return asyncio.run(run())


def declares(package: Make, content_type: str, schema: Any = None, status: str = "200", **more: Any) -> Any:
    entry = {"content_type": content_type, **({} if schema is None else {"schema": schema})}
    return package({"op": operation(responses={status: entry}, **more)}, TYPES)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_stream_that_says_done_is_listened_to_no_longer(package: Make, end: str) -> None:
    pets = declares(package, "text/event-stream")
    content = f'data: {{"a": 1}}{end}{end}data: [DONE]{end}{end}'.encode()
    answer = receive(content, RuntimeError("nobody reads this"), content_type="text/event-stream")
    assert pets.decode(answer) == [{"data": {"a": 1}}]
    assert answer.cut == ""


@pytest.mark.parametrize(
    "content_type",
    [
        "application/x-ndjson",
    ],
)
def test_lines_of_json_come_as_a_list(package: Make, content_type: str) -> None:
    pets = declares(package, content_type, PET)
    answer = receive(b'{"petId": 1}\n\n{"pet', b'Id": 2}\nnot json\n{"petId": 3}', content_type=content_type)
    assert pets.decode(answer) == [{"pet_id": 1}, {"pet_id": 2}, "not json", {"pet_id": 3}]


def test_the_schema_of_a_stream_may_be_that_of_the_whole_list(package: Make) -> None:
    pets = declares(package, "application/x-ndjson", {"type": "array", "items": PET})
    assert pets.decode(receive(b'{"petId": 1}\n', content_type="application/x-ndjson")) == [{"pet_id": 1}]


def test_lines_under_the_name_of_json_are_read_by_the_schema_of_one(package: Make) -> None:
    pets = declares(package, "application/x-ndjson", PET)
    answer = receive(b'{"petId":1}\n{"petId":2}\n', content_type="application/json")
    assert pets.decode(answer) == [{"pet_id": 1}, {"pet_id": 2}]


def test_values_a_line_each_under_the_name_of_json_come_as_a_list(package: Make) -> None:
    pets = declares(package, "application/json", {"type": "array", "items": PET})
    assert pets.decode(receive(b'{"petId":1}\n{"petId":2}\n', content_type="application/json")) == [
        {"pet_id": 1},
        {"pet_id": 2},
    ]


def test_a_text_in_lines_of_json_may_hold_a_line_separator_of_unicode(package: Make) -> None:
    pets = declares(package, "application/json", {"type": "array", "items": PET})
    lines = '{"name":"a\u2028b\u0085c"}\r\n{"petId":2}\n'.encode()
    answer = receive(lines, content_type="application/json")
    assert pets.decode(answer) == [{"name": "a\u2028b\u0085c"}, {"pet_id": 2}]


LINE = b'{"a": 1}\n'


@pytest.mark.parametrize(
    ("pieces", "config", "cut", "count"),
    [
        ([LINE] * 50, SMALL._replace(stream_events=7), "events", 7),
        ([LINE] * 50, Config(max_response_size=90), "bytes", 10),
        ([LINE, LINE, b'{"half', 60.0], SMALL._replace(stream_seconds=0.05), "time", 2),
        ([LINE, b'{"half', httpx2.ReadError("gone")], SMALL, "break", 1),
        ([LINE, LINE], SMALL, "", 2),
    ],
)
def test_a_stream_is_listened_to_within_bounds(
    package: Make, pieces: list[Any], config: Config, cut: str, count: int
) -> None:
    pets = declares(package, "application/x-ndjson")
    answer = receive(*pieces, config=config, content_type="application/x-ndjson")
    assert answer.cut == cut
    assert pets.decode(answer) == [{"a": 1}] * count


EVENT = b"id: 7\ndata: {\ndata: }\n\n"


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
@pytest.mark.parametrize(
    ("content_type", "content"),
    [
        ("application/x-ndjson", b"\n".join([LINE] * 9)),
        ("application/x-ndjson", b"\r\n \n".join([LINE] * 9)),
        ("text/event-stream", b": ping\n\n".join([EVENT] * 9)),
        ("text/event-stream", b": ping\r\n\r\n".join([EVENT.replace(b"\n", b"\r\n")] * 9)),
        ("text/event-stream", b"retry: 1\r\r".join([EVENT.replace(b"\n", b"\r")] * 9)),
    ],
)
def test_signs_of_life_are_no_events(package: Make, content_type: str, content: bytes, size: int) -> None:
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    values = declares(package, content_type).decode
    whole = receive(*pieces, config=SMALL._replace(stream_events=10), content_type=content_type)
    assert (whole.cut, len(values(whole))) == ("", 9)
    cut = receive(*pieces, config=SMALL._replace(stream_events=7), content_type=content_type)
    assert cut.cut == "events"
    assert size > 100 or len(values(cut)) == 7


def test_a_stream_without_an_end_answers_within_the_time_out(package: Make) -> None:
    pets = declares(package, "text/event-stream")
    answer = receive(b"data: 1\n\n", 60.0, timeout=0.5, content_type="text/event-stream")
    assert answer.cut == "time"
    assert pets.decode(answer) == [{"data": "1"}]


BODY = json.dumps({"petId": 7}).encode()


def gzipped(data: bytes) -> bytes:
    """Compress without the time of day, which would name the tests differently in each of their processes."""
    return gzip.compress(data, mtime=0)


RAW = zlib.compressobj(wbits=-15)
RAW_BODY = RAW.compress(BODY) + RAW.flush()


@each(
    ("coding", "content"),
    [
        ("gzip", gzipped(BODY)),
        ("x-gzip", gzipped(BODY)),
        ("GZIP, identity", gzipped(BODY)),
        ("deflate", zlib.compress(BODY)),
        ("deflate", RAW_BODY),
        ("deflate, gzip", gzipped(zlib.compress(BODY))),
        ("gzip", gzipped(BODY[:4]) + gzipped(BODY[4:])),
        ("gzip", gzipped(BODY) + b"\x00\x00"),
        ("identity", BODY),
    ],
)
@each("size", [1, 3, 1000])
def test_compressed_answers_are_read_however_they_are_cut_into_pieces(coding: str, content: bytes, size: int) -> None:
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    assert receive(*pieces, content_encoding=coding).content == BODY


@each("size", [100, 1_000_000])
def test_each_member_of_a_compressed_answer_is_read_once_however_long_it_is(size: int) -> None:
    lines = [json.dumps("x" * length).encode() + b"\n" for length in (1_000_000, 3, 1_000_000)]
    content = b"".join(map(gzipped, lines))
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    assert receive(*pieces, content_encoding="gzip").content == b"".join(lines)


@each(
    ("coding", "content"),
    [
        ("gzip", BODY),
        ("gzip", gzipped(BODY)[:-9]),
        ("gzip", gzipped(BODY)[:10] + b"\xff" * 20),
        ("deflate", b"\xff\xff\xff"),
        ("br", b"\x0b"),
        ("gzip, gzip, gzip, gzip", b""),
    ],
)
def test_damaged_or_unknown_codings_are_told_as_such(coding: str, content: bytes) -> None:
    with pytest.raises(Failure) as caught:
        receive(content, content_encoding=coding)
    assert caught.value.code is Code.INTERNAL_ERROR
    assert "the API's answer" in caught.value.message


def test_a_small_answer_that_unpacks_to_a_huge_one_is_stopped() -> None:
    bomb = gzip.compress(b"\x00" * 200_000_000, 9)
    with pytest.raises(Failure) as caught:
        receive(bomb, content_encoding="gzip")
    assert caught.value.code is Code.PAYLOAD_TOO_LARGE
    assert caught.value.details["actual_value"] < 50_000_000


@pytest.mark.parametrize(
    ("content", "content_type", "data"),
    [
        (b"\xef\xbb\xbfh\xc3\xa9", "text/plain; charset=iso-8859-1", "hé"),
        (b'<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe9</a>', "application/xml", None),
        (b"abc", "text/plain; charset=idna", "abc"),
        (b"", "application/json", None),
        (b"  ", "application/json", None),
        (b'{"a": "\\ud800"}', "application/json", {"a": "\ufffd"}),
        ('{"a": "é"}'.encode(), "application/json; charset=iso-8859-1", {"a": "é"}),
        (b'{"a": 1}', "application/json, application/json", {"a": 1}),
        (b'{"a": 1}', "", {"a": 1}),
        (b"plain", "", "plain"),
        (b"\x00\x01", "", {"content": "AAE=", "encoding": "base64", "mime_type": "application/octet-stream"}),
    ],
)
def test_contents_nothing_was_promised_of_are_read_by_their_type(
    package: Make, content: bytes, content_type: str, data: Any
) -> None:
    pets = package({"op": operation(responses={"200": {}})})
    headers = {"content-type": content_type} if content_type else {}
    read = pets.decode(ApiResponse(200, headers, content))
    assert read == (data if data is not None or not content.strip() else content.decode("latin-1"))


def test_an_answer_too_deep_to_be_written_keeps_its_depths_as_text(package: Make) -> None:
    pets = package({"op": operation(responses={"200": {}})})
    data = pets.decode(ApiResponse(200, {"content-type": "application/json"}, b"[" * 400 + b"1" + b"]" * 400))
    depth = 0
    while isinstance(data, list):
        data, depth = data[0], depth + 1
    assert depth == 150
    assert data == "[" * 250 + "1" + "]" * 250


MIXED = b"""preamble\r
--=b\r
Content-Type: application/json\r
\r
{"a": 1}\r
--=b\r
Content-Disposition: form-data; name="file"; filename="a b.png"\r
Content-Type: image/png\r
\r
\x89P\r\n\x00\r
--=b\r
Content-Type: text/plain; charset=utf-8\r
\r
h\xc3\xa9\r
--=b\r
Content-Type: application/http\r
Content-ID: <r1>\r
\r
HTTP/1.1 404 Not Found\r
Content-Type: application/json\r
\r
{"error": "no"}\r
--=b\r
\r
bare\r
--=b--\r
epilogue"""


@pytest.mark.parametrize("kind", ["mixed", "related", "form-data"])
def test_the_parts_of_a_multipart_answer_are_each_read_by_their_type(package: Make, kind: str) -> None:
    pets = declares(package, f"multipart/{kind}")
    parts = pets.decode(receive(MIXED, content_type=f'multipart/{kind}; boundary="=b"'))
    assert parts == [
        {"content_type": "application/json", "data": {"a": 1}},
        {
            "name": "file",
            "filename": "a b.png",
            "content_type": "image/png",
            "data": {
                "content": base64.b64encode(b"\x89P\r\n\x00").decode(),
                "encoding": "base64",
                "mime_type": "image/png",
            },
        },
        {"content_type": "text/plain", "data": "hé"},
        {
            "content_id": "<r1>",
            "content_type": "application/http",
            "data": {
                "text": 'HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\n\r\n{"error": "no"}',
                "was": "bytes",
                "mime_type": "application/http",
            },
        },
        {"data": "bare"},
    ]


def test_a_multipart_answer_without_parts_is_given_as_it_is(package: Make) -> None:
    pets = declares(package, "multipart/mixed")
    for kind in ("multipart/mixed", "multipart/mixed; boundary=x"):
        assert pets.decode(receive(b"none\xff", content_type=kind))["encoding"] == "base64"


def test_a_head_request_tells_what_exists(package: Make) -> None:
    pets = package({"op": operation("HEAD", responses={"200": {}})})
    answer = receive(
        method="HEAD",
        content_length="3000000000",
        content_type="image/png",
        etag='"v1"',
        last_modified="Mon, 01 Jan 2024 00:00:00 GMT",
        x_total_count="12",
        x_request_id="noise",
        content_encoding="gzip",
        date="now",
    )
    assert pets.decode(answer) == {
        "exists": True,
        "content_type": "image/png",
        "content_length": "3000000000",
        "etag": '"v1"',
        "last_modified": "Mon, 01 Jan 2024 00:00:00 GMT",
    }
    with pytest.raises(Failure) as caught:
        pets.decode(receive(method="HEAD", status=404))
    assert caught.value.code is Code.NOT_FOUND_RESOURCE


LOCATION = "https://api.example.com/jobs/7"


@pytest.mark.parametrize(
    ("status", "headers", "content", "data"),
    [
        (202, {"location": LOCATION}, b"", {"status": "accepted", "location": LOCATION, "monitor": "get_job"}),
        (
            202,
            {"operation_location": LOCATION, "location": "/x", "retry_after": "5"},
            b"",
            {"status": "accepted", "location": LOCATION, "monitor": "get_job", "retry_after_seconds": 5},
        ),
        (202, {"location": LOCATION}, b'{"id": 7}', {"id": 7, "_location": LOCATION, "_monitor": "get_job"}),
        (202, {}, b'{"id": 7}', {"id": 7}),
        (202, {}, b"", None),
        (201, {"location": LOCATION}, b"", {"location": LOCATION}),
        (201, {"location": LOCATION}, b'{"id": 7}', {"id": 7}),
        (303, {"location": LOCATION}, b"", {"location": LOCATION}),
    ],
)
def test_what_was_made_or_accepted_tells_where_it_is(
    package: Make, status: int, headers: dict[str, str], content: bytes, data: Any
) -> None:
    """R-LOOP-1."""
    rows = {"op": operation("POST", responses={"201": {}, "202": {}}, long_running={"monitor": "get_job"})}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    kind = {"content-type": "application/json"} if content else {}
    assert package(rows).decode(ApiResponse(status, named | kind, content)) == data


def test_what_has_not_changed_is_told_to_whoever_asked_on_that_condition(package: Make) -> None:
    parameter = {"in": "header", "name": "If-None-Match", "schema": STRING}
    pets = package({"op": operation(parameters={"if_none_match": parameter})})
    answer = ApiResponse(304, {"etag": '"v1"'}, b"")
    assert pets.decode(answer, {"if_none_match": '"v1"'}) == {"not_modified": True, "etag": '"v1"'}
    with pytest.raises(Failure):
        pets.decode(answer)


def test_an_error_of_any_length_keeps_its_status(package: Make) -> None:
    pets = package({"op": operation()})
    answer = receive(*[b"x" * 1_000_000] * 60, status=500, content_type="text/plain", content_length="60000000")
    with pytest.raises(Failure) as caught:
        pets.decode(answer)
    assert caught.value.details["http_status"] == 500
    answer = receive(b'{"message": "No"}', httpx2.ReadError("gone"), status=400, content_type="application/json")
    with pytest.raises(Failure) as caught:
        pets.decode(answer)
    assert caught.value.details["upstream"]["message"] == "No"


PNG = b"\x89PNG\r\n\x1a\n" * 1000


def saved(package: Make, folder: Path, *pieces: Any, **headers: str) -> Any:
    pets = declares(package, "image/png")
    headers = {"content_type": "image/png", **headers}
    return pets.decode(receive(*pieces, row=pets.row(), config=SMALL._replace(files_folder=str(folder)), **headers))


def test_bytes_are_saved_in_the_folder_that_the_owner_allows(package: Make, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    data = saved(package, folder, PNG[:5], PNG[5:], content_disposition='attachment; filename="a.png"')
    import hashlib

    assert data == {
        "path": str(folder / "a.png"),
        "size": len(PNG),
        "mime_type": "image/png",
        "sha256": hashlib.sha256(PNG).hexdigest(),
    }
    assert (folder / "a.png").read_bytes() == PNG
    again = saved(package, folder, b"other", content_disposition='attachment; filename="a.png"')
    assert again["path"] == str(folder / "a-1.png")
    assert (folder / "a.png").read_bytes() == PNG


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('attachment; filename="../../etc/passwd"', "passwd.png"),
        ('attachment; filename="..\\\\..\\\\evil.exe"', "evil.exe"),
        ("attachment; filename=..", "end.bin"),
        ("attachment; filename*=UTF-8''%2e%2e%2f%2e%2e%2fx.txt", "x.txt"),
        ("attachment; filename=\"plain.txt\"; filename*=UTF-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
        ("attachment; filename*=iso-8859-1'en'%A3.txt", "£.txt"),
        ('attachment; filename=".bashrc"', "bashrc.png"),
        ('attachment; filename="a\\"b.txt"', "a_b.txt"),
        ('attachment; filename="con.txt"', "_con.txt"),
        ('attachment; filename="C:\\\\x\\\\y.pdf"', "y.pdf"),
        (f'attachment; filename="{"x" * 400}.pdf"', f"{'x' * 116}.pdf"),
        ("attachment", "end.bin"),
        ("", "end.bin"),
    ],
)
def test_a_name_of_the_apis_choosing_stays_in_the_folder(
    package: Make, tmp_path: Path, disposition: str, name: str
) -> None:
    folder = tmp_path / "files"
    data = saved(package, folder, PNG, content_disposition=disposition)
    assert Path(data["path"]) == folder / name
    assert [file.name for file in folder.iterdir()] == [name]


def test_a_link_in_the_folder_is_not_followed(package: Make, tmp_path: Path) -> None:
    folder, victim = tmp_path / "files", tmp_path / "victim"
    folder.mkdir()
    (folder / "a.png").symlink_to(victim)
    data = saved(package, folder, PNG, content_disposition='attachment; filename="a.png"')
    assert data["path"].endswith("a-1.png")
    assert not victim.exists()


def test_a_file_that_breaks_off_or_is_too_long_leaves_nothing_behind(package: Make, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    with pytest.raises(Failure) as caught:
        saved(package, folder, PNG, httpx2.ReadError("gone"))
    assert caught.value.code is Code.INTERNAL_ERROR
    pets = declares(package, "image/png")
    with pytest.raises(Failure) as caught:
        receive(
            PNG,
            row=pets.row(),
            config=Config(max_response_size=1, files_folder=str(folder), files_max_size=100),
            content_type="image/png",
        )
    assert caught.value.code is Code.PAYLOAD_TOO_LARGE
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_told_without_its_path(package: Make, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Failure) as caught:
        saved(package, tmp_path / "file", PNG)
    assert caught.value.code is Code.INTERNAL_ERROR
    assert str(tmp_path) not in str(caught.value.envelope())


@pytest.mark.parametrize("kind", ["application/json", "text/csv", "application/xml", "application/x-ndjson"])
def test_data_and_text_are_never_saved(package: Make, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "files"
    saved(package, folder, b'{"a": 1}', content_type=kind)
    assert not folder.exists()
