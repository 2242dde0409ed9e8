"""No answer of the API and no argument of an agent keeps the adapter busy, fills its memory or chooses its code
(R-TRUST-4).
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path
from threading import current_thread, main_thread
from types import SimpleNamespace
from typing import Any

import pytest
from guarded_shop import Shop

from aqlgen.runtime import client
from aqlgen.runtime.client.receive import Decompressor
from aqlgen.runtime.decode.api_error import read_error
from aqlgen.runtime.decode.body import decode_text, read_body
from aqlgen.runtime.decode.files import disposition_name
from aqlgen.runtime.decode.headers import quotas, read_links, retry_after, seconds_until_reset
from aqlgen.runtime.decode.sequential import StreamWatch, read_multipart, stream_values
from aqlgen.runtime.decode.xml import UnreadableXmlError, read_xml
from aqlgen.runtime.encode.body import _encode_text
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.paging.listing import ListQuery
from aqlgen.runtime.schema.validators import Schemas, stated_pattern
from aqlgen.runtime.server.stdio import Refusal, parse
from aqlgen.runtime.session import Session
from aqlgen.runtime.text import bounded, leaks, line
from aqlgen.runtime.wire import ApiResponse, known_charset
from aqlgen.table.sample_values import ValueMaker
from tests.attacks.bounds import cpu_seconds
from tests.cases import each
from tests.in_process import StandIn, dispatcher_of
from tests.runtime.api.hand_made import make_package, operation

MOST = 2.0
"""CPU seconds; none of these answers takes a tenth of it on a machine at rest."""
JSON = "application/json"
SIZE = 131_072
TYPES: Any = SimpleNamespace(types={"X": {"type": "array", "minItems": 1, "items": {"$ref": "#/types/X"}}})


@each(
    "name",
    ["utf_7", "UTF-7", "unicode-1-1-utf-7", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "zlib_codec",
     "bz2", "rot13", "hex", "base64", "uu", "quopri", "undefined", "mbcs", "oem", "os.path", "..", "a" * 100_000, ""],
)  # fmt: skip
def test_an_answer_chooses_no_codec_but_a_charset(name: str) -> None:
    assert known_charset(name) is None
    assert decode_text("+ADw-é".encode(), f"text/plain; charset={name}") == "+ADw-é"
    assert _encode_text(f"text/plain; charset={name or 'x'}", "é")[1] == "é".encode()


@pytest.mark.parametrize("name", ["utf-8", "latin1", "windows-1252", "Shift_JIS", "gb2312", "us-ascii", "utf-16le"])
def test_charsets_of_texts_are_known(name: str) -> None:
    assert known_charset(name) is not None


CONTENTS: dict[str, bytes] = {
    "arrays": b"[" * 100_000,
    "closed arrays": b"[" * 100_000 + b"]" * 100_000,
    "objects": b'{"a":' * 100_000,
    "closed objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "levels below the parser's limit": b"[" * 900 + b"]" * 900,
    "an integer of two million digits": b"9" * 2_000_000,
    "the same within": b'{"a":' + b"9" * 2_000_000 + b"}",
    "a fraction of two million digits": b"0." + b"9" * 2_000_000,
    "an exponent of two million digits": b"1e" + b"9" * 2_000_000,
    "no numbers": b'{"a": NaN, "b": Infinity, "c": -Infinity}',
    "repeated keys": b"{" + b'"a":1,' * 100_000 + b'"a":2}',
    "commas": b"[" + b"1," * 1_000_000 + b"1]",
    "numbers with exponents": b"[" + b"1e9," * 2_000_000 + b"1]",
    "lone surrogates": b'["' + b"\\ud800" * 50_000 + b'"]',
    "a line of ten megabytes": b'"' + b"x" * 10_000_000 + b'"',
    "lines": b"{}\n" * 100_000,
    "lines, the last broken": b"{}\n" * 100_000 + b"{",
    "backslashes": b'"' + b"\\" * 1_000_000,
    "zeros": b"\0" * 1_000_000,
    "white space": b" " * 2_000_000,
    "no UTF-8": b"\xff" * 1_000_000,
    "UTF-16 cut in a unit": "{}".encode("utf-16") + b"\0",
}


@each("content", CONTENTS.values(), ids=CONTENTS)
def test_json_that_should_burst_the_decoder_is_data_or_a_failure(content: bytes) -> None:
    with cpu_seconds(MOST):
        try:
            json.dumps(read_body(content, JSON))
        except Failure as failure:
            message = failure.message
        else:
            message = ""
    assert len(message) < 500


@pytest.mark.anyio
async def test_a_long_answer_is_read_beside_other_calls(
    shop: Callable[..., Shop], monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []
    monkeypatch.setattr(client, "decode_response", lambda *_, **__: threads.append(current_thread()))
    for size in (1, 2_000_000):
        place = shop(answer={"name": "x" * size})
        await place.dispatcher.handle(None, {"operation": "get_item", "params": {"item_id": 1}}, Session("s"))
    assert [thread is main_thread() for thread in threads] == [True, False]


@pytest.mark.anyio
@each("query", [{"where": {"name": "x"}}, {"order_by": "name"}, {"aggregate": {"group_by": "name"}}])
async def test_a_long_list_is_searched_beside_other_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: dict[str, Any]
) -> None:
    threads, over = [], ListQuery.over
    noted = lambda self, items: threads.append(current_thread()) or over(self, items)  # noqa: E731 - a method
    monkeypatch.setattr(ListQuery, "over", noted)
    parameters = {name: {"in": "adapter", "schema": {}} for name in ("where", "order_by", "aggregate")}
    row = operation("GET", "/things", parameters=parameters)
    make_package(tmp_path, {"list_things": row}, adapter={"counts": {"read": 1}})
    for count in (1, 60_000):
        dispatcher = dispatcher_of(tmp_path, StandIn(lambda _, count=count: [{"name": "x", "size": 1}] * count))
        answer = await dispatcher.handle("read", {"operation": "list_things", "params": query})
        assert answer["success"]
    assert [thread is main_thread() for thread in threads] == [True, False]


HEADERS: dict[str, str] = {
    "a link without end": "<" * SIZE,
    "links without relation": "<a>;" * (SIZE // 4),
    "quotes": '<a>; rel="' * (SIZE // 10),
    "quotes in pairs": '<a>;' + '"",' * (SIZE // 3),
    "white space": "<a>;" + " " * SIZE,
    "semicolons": "<a>" + ";rel=" * (SIZE // 5),
    "commas": "," * SIZE,
    "digits": "1" * SIZE,
    "items": '"a";q=1,' * (SIZE // 8),
    "parameters": "a" + ' ; a = "a"' * (SIZE // 10),
    "letters": "a" * SIZE,
    "filename": "filename=" * (SIZE // 9),
    "backslashes": 'filename="' + "\\" * SIZE,
    "dates": "Mon, " * (SIZE // 5),
}  # fmt: skip


@each("value", HEADERS.values(), ids=HEADERS)
def test_a_header_of_any_shape_is_read_in_one_pass(value: str) -> None:
    headers = {"ratelimit": value, "ratelimit-policy": value, "x-ratelimit-remaining": value, "retry-after": value}
    with cpu_seconds(MOST):
        list(read_links(value))
        list(quotas(headers))
        retry_after(value, 0.0)
        seconds_until_reset(value)
        disposition_name(value)
        read_multipart(b"--a\r\n", f"multipart/mixed; boundary={value}")
        read_body(b"{}", f"{JSON};{value}")


def test_a_link_of_sixty_kilobytes_still_leads_on() -> None:
    links = list(
        read_links("<" + "a" * 60_000 + '>; rel="prev", <https://api.example.com/2>; title="a, <b>"; rel="x next"')
    )

    assert links[-1].target == "https://api.example.com/2"
    assert links[-1].relations == ("x", "next")


ERRORS: dict[str, str] = {
    "line breaks": "\n" * SIZE,
    "frames": "\n at" * (SIZE // 4),
    "spaces": "\n" + " " * SIZE,
    "quotes": "'" * SIZE,
    "XML": "<message>" * (SIZE // 9),
    "CDATA": "<message><![CDATA[" * (SIZE // 18),
    "broken JSON": '{"message": "' + "\\" * SIZE,
    "keys": '{"message": ' * (SIZE // 12),
    "HTML": "<meta" * (SIZE // 5),
}


@each("content_type", [JSON, "text/plain", "application/xml", "text/html", "application/x-www-form-urlencoded"])
@each("text", ERRORS.values(), ids=ERRORS)
def test_an_error_of_any_text_is_read_in_one_pass(text: str, content_type: str) -> None:
    with cpu_seconds(MOST):
        error = read_error(ApiResponse(500, {"content-type": content_type, "www-authenticate": text}, text.encode()))
        leaks(error.message)
        leaks(text)
        line(bounded(text), 300)


STREAMS: dict[str, bytes] = {
    "events without end": b"data: 1\n" * 50_000,
    "empty events": b"\n" * SIZE,
    "carriage returns": b"\r" * SIZE,
    "one long line": b"data: " + b"x" * 2_000_000,
    "records": b"\x1e" * SIZE,
    "deep values": (b"[" * 5_000 + b"\n") * 20,
    "numbers": b"9" * 100_000 + b"\n",
}


@each("form", ["events", "lines", "sequence"])
@each("content", STREAMS.values(), ids=STREAMS)
def test_a_stream_of_any_shape_is_read_in_one_pass(content: bytes, form: Any) -> None:
    watch = StreamWatch(form, 1000)
    with cpu_seconds(MOST):
        for start in range(0, len(content), 4096):
            watch.feed(content[start : start + 4096])
        stream_values(content.decode(), form, complete=False)


PARTS: dict[str, bytes] = {
    "delimiters": b"--a\r\n" * 50_000,
    "line breaks": b"\r\n" * SIZE,
    "dashes": b"--" * SIZE,
    "a head without end": b"--a\r\n" + b"x: y\r\n" * 50_000,
    "folded heads": b"--a\r\nx: y" + b"\r\n " * 50_000,
    "a part within parts": b"--a\r\nContent-Type: application/http\r\n\r\n" * 20_000,
}


@pytest.mark.parametrize("content", PARTS.values(), ids=PARTS)
def test_a_multipart_body_of_any_shape_is_read_in_one_pass(content: bytes) -> None:
    with cpu_seconds(MOST):
        read_multipart(content, "multipart/mixed; boundary=a")


ELEMENTS: dict[str, str] = {
    "depth": "<a>" * 100_000,
    "attributes": "<a " + " ".join(f'a{number}="1"' for number in range(50_000)) + "/>",
    "entities": '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><a>&b;</a>',
    "an outer entity": '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><a>&a;</a>',
    "siblings": "<a>" + "<b/>" * 100_000 + "</a>",
    "an open comment": "<a><!--" + "-" * SIZE,
}


@pytest.mark.parametrize("text", ELEMENTS.values(), ids=ELEMENTS)
def test_xml_that_should_burst_the_decoder_is_refused(text: str) -> None:
    with cpu_seconds(2 * MOST):
        try:
            read_xml(text, {}, TYPES)
        except UnreadableXmlError:
            return
    assert "ENTITY" not in text


def _deflated(layers: int) -> bytes:
    data = b"\0" * 8_000_000
    for _ in range(layers):
        data = gzip.compress(data, 9)
    return data


@pytest.mark.parametrize(("coding", "layers"), [("gzip", 1), ("gzip, gzip", 2)])
def test_a_compressed_bomb_comes_in_pieces_that_can_be_counted(coding: str, layers: int) -> None:
    with cpu_seconds(2 * MOST):
        pieces = Decompressor(coding).feed(_deflated(layers))
        assert max(len(next(pieces)) for _ in range(3)) <= 1024 * 1024


MESSAGES: dict[str, bytes] = {
    "arrays": b"[" * 100_000,
    "objects": b'{"a":' * 100_000,
    "digits": b'{"jsonrpc":"2.0","id":' + b"9" * 2_000_000 + b',"method":"ping"}',
    "an argument of digits": b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":' + b"9" * 2_000_000 + b"}}",
    "no number": b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":NaN}}',
    "no UTF-8": b'{"jsonrpc":"2.0","id":"\xff","method":1}',
    "zeros": b"\0" * SIZE,
    "quotes": b'"' * SIZE,
}


@pytest.mark.parametrize("content", MESSAGES.values(), ids=MESSAGES)
def test_a_message_of_an_agent_that_should_burst_the_parser_is_refused(content: bytes) -> None:
    with cpu_seconds(MOST):
        message = parse(content)

    assert isinstance(message, Refusal) or content.startswith(b'{"jsonrpc"')


@pytest.mark.parametrize("pattern", [r"(?=a)(?:[^x]*y)", r"(?=(a+)+$)b", r"(a+)\1b", r"^(?=(a|a)*$)(\w+\s?)*%"])
def test_a_pattern_of_the_document_is_not_tried_for_ever_on_an_argument(pattern: str) -> None:
    validator = Schemas(TYPES).schema({"type": "string", "pattern": pattern})
    assert validator is not None

    with cpu_seconds(MOST):
        assert validator.is_valid("a" * 1_000_000)
        list(validator.iter_errors("a" * 1000))
        (error,) = validator.iter_errors("!")
    assert stated_pattern(error.kind.value) == pattern


SAMPLED: dict[str, Callable[[], dict[str, Any]]] = {
    "a pattern that backtracks": lambda: {"type": "string", "pattern": "^([0-9a-f]+)+$!|^(x+x+)+y|(\\w+\\s?)*%"},
    "a pattern with lookaround": lambda: {"type": "string", "pattern": "^(?=(\\w+)+$)(\\w+)+%"},
    "a huge minLength": lambda: {"type": "string", "minLength": 10**12},
    "a huge minItems": lambda: {"type": "array", "minItems": 10**12, "items": {"type": "string"}},
    "an array within itself": lambda: {"$ref": "#/types/X"},
}


@pytest.mark.parametrize("schema", SAMPLED.values(), ids=SAMPLED)
def test_a_sample_of_any_schema_is_made_at_once(schema: Callable[[], dict[str, Any]]) -> None:
    started = time.process_time()

    value = ValueMaker(TYPES.types).answer(schema())

    assert time.process_time() - started < MOST
    assert len(json.dumps(value)) < 100_000
