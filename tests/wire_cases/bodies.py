"""Bodies of one content: JSON, forms, texts, bytes."""

from __future__ import annotations

from .case import BAD, BOOLEAN, INTEGER, MAP, NUMBER, PET, PNG, PNG64, STRING, STRINGS, Case, form_part, posted


def jsons() -> list[Case]:
    big = 12345678901234567890123
    patch = {"type": "array", "items": {"type": "object", "properties": {"op": STRING, "path": STRING, "value": {}}}}
    return [
        posted(
            "fields", "application/json", PET, {"pet_name": "Réx", "tags": []}, '{"petName":"Réx","tags":[]}'.encode()
        ),
        posted("null is kept", "application/json", PET, {"extra": None}, b'{"extra":null}'),
        posted(
            "nested names that fold to one",
            "application/json",
            PET,
            {"home": {"zipCode": "1", "zip_code": "2"}},
            b'{"home":{"zipCode":"1","zip_code":"2"}}',
        ),
        posted("a list", "application/json", STRINGS, {"body": ["a", "b"]}, b'["a","b"]'),
        posted("a text", "application/json", STRING, {"body": "x"}, b'"x"'),
        posted(
            "a big number",
            "application/json",
            {"type": "object", "properties": {"n": INTEGER}},
            {"n": big},
            f'{{"n":{big}}}'.encode(),
        ),
        posted(
            "true is no 1",
            "application/json",
            {"type": "object", "properties": {"n": {}, "m": {}}},
            {"n": True, "m": 1.5},
            b'{"n":true,"m":1.5}',
        ),
        posted("a suffix", "application/vnd.api+json", PET, {"pet_name": "x"}, b'{"petName":"x"}'),
        posted("parameters of the type", "application/json; charset=utf-8", PET, {"pet_name": "x"}, b'{"petName":"x"}'),
        posted(
            "a merge patch",
            "application/merge-patch+json",
            PET,
            {"input": {"extra": None}},
            b'{"extra":null}',
            method="PATCH",
        ),
        posted(
            "a JSON Patch",
            "application/json-patch+json",
            patch,
            {"input": [{"op": "add", "path": "/a", "value": {"b": 1}}]},
            b'[{"op":"add","path":"/a","value":{"b":1}}]',
            method="PATCH",
        ),
        posted("a body of DELETE", "application/json", PET, {"tags": ["a"]}, b'{"tags":["a"]}', method="DELETE"),
        posted("a body of GET", "application/json", PET, {"tags": ["a"]}, b'{"tags":["a"]}', method="GET"),
        posted(
            "further fields",
            "application/json",
            {**PET, "additionalProperties": INTEGER},
            {"additional_properties": {"some-Key": 1}},
            b'{"some-Key":1}',
        ),
        posted(
            "lines",
            "application/vnd.acme.v1+ndjson",
            {"type": "object", "properties": {"aB": INTEGER}},
            {"body": [{"a_b": 1}]},
            b'{"aB":1}\n',
        ),
        posted(
            "lines",
            "application/x-ndjson",
            {"type": "array", "items": PET},
            {"body": [{"petName": "a"}, {"petName": "é"}]},
            '{"petName":"a"}\n{"petName":"é"}\n'.encode(),
        ),
        posted(
            "lines of a schema of one", "application/jsonl", PET, {"body": [{"petName": "a"}]}, b'{"petName":"a"}\n'
        ),
        posted(
            "a sequence",
            "application/json-seq",
            {"type": "array", "items": {}},
            {"body": [1, {"a": 2}]},
            b'\x1e1\n\x1e{"a":2}\n',
        ),
    ]


def forms() -> list[Case]:
    form = "application/x-www-form-urlencoded"
    schema = {
        "type": "object",
        "properties": {"a": STRING, "list": STRINGS, "deep": MAP, "n": NUMBER, "b": BOOLEAN, "a b": STRING},
    }
    deep = {"type": "object", "properties": {"deep": MAP, "list": {"type": "array", "items": MAP}}}
    return [
        posted("text", form, schema, {"a": "x y&z=é+"}, b"a=x+y%26z%3D%C3%A9%2B"),
        posted("a repeated list", form, schema, {"list": ["p", "q r"]}, b"list=p&list=q+r"),
        posted("an object as JSON", form, schema, {"deep": {"k": [1]}}, b"deep=%7B%22k%22%3A%5B1%5D%7D"),
        posted("numbers and booleans", form, schema, {"n": 2.0, "b": True}, b"n=2&b=true"),
        posted("a name with a blank", form, schema, {"a_b": "x"}, b"a+b=x"),
        posted("an empty text", form, schema, {"a": ""}, b"a="),
        posted(
            "a list with commas",
            form,
            schema,
            {"list": ["p", "q,r"]},
            b"list=p,q%2Cr",
            encoding={"list": {"style": "form", "explode": False}},
        ),
        posted(
            "a list with blanks between",
            form,
            schema,
            {"list": ["p", "q"]},
            b"list=p%20q",
            encoding={"list": {"style": "spaceDelimited"}},
        ),
        posted(
            "a list with pipes",
            form,
            schema,
            {"list": ["p", "q"]},
            b"list=p%7Cq",
            encoding={"list": {"style": "pipeDelimited", "explode": False}},
        ),
        posted(
            "a deep object",
            form,
            deep,
            {"deep": {"x": {"y": 1}, "z": "é"}},
            b"deep%5Bx%5D%5By%5D=1&deep%5Bz%5D=%C3%A9",
            encoding={"deep": {"style": "deepObject", "explode": True}},
        ),
        posted(
            "an exploded object",
            form,
            deep,
            {"deep": {"x": 1, "y": 2}},
            b"x=1&y=2",
            encoding={"deep": {"style": "form", "explode": True}},
        ),
        posted(
            "a text as JSON",
            form,
            schema,
            {"a": "f81d4fae"},
            b"a=%22f81d4fae%22",
            encoding={"a": {"contentType": "application/json"}},
        ),
        posted(
            "a text that is JSON already",
            form,
            schema,
            {"a": '{"k": 1}'},
            b"a=%7B%22k%22%3A+1%7D",
            encoding={"a": {"contentType": "application/json"}},
        ),
        posted(
            "reserved characters", form, schema, {"a": "x/y?z"}, b"a=x/y?z", encoding={"a": {"allowReserved": True}}
        ),
        posted(
            "a list as JSON",
            form,
            schema,
            {"list": ["p"]},
            b"list=%5B%22p%22%5D",
            encoding={"list": {"contentType": "application/json"}},
        ),
        posted(
            "of an update",
            form,
            schema,
            {"input": {"list": ["p", "q"], "a": "x"}},
            b"list=p,q&a=x",
            method="PATCH",
            encoding={"list": {"explode": False}},
        ),
    ]


def texts() -> list[Case]:
    return [
        posted("bytes", "application/octet-stream", {"type": "string", "format": "binary"}, {"body": PNG64}, PNG),
        posted("a picture", "image/png", {}, {"body": {"content": PNG64}}, PNG),
        posted("of any kind", "image/*", {}, {"body": {"content": PNG64, "mime_type": "image/png"}}, PNG, "image/png"),
        posted("text", "text/plain", STRING, {"body": "a\r\nb"}, b"a\r\nb"),
        posted("text beyond ASCII", "text/plain", STRING, {"body": "é"}, "é".encode(), "text/plain; charset=utf-8"),
        posted("text in another charset", "text/plain; charset=iso-8859-1", STRING, {"body": "é"}, b"\xe9"),
        posted("text that a charset lacks", "text/plain; charset=iso-8859-1", STRING, {"body": "日"}, b"", refused=BAD),
        posted("text that is too short", "text/plain", {**STRING, "minLength": 2}, {"body": "x"}, b"", refused=BAD),
        posted("text of a pattern", "text/plain", {**STRING, "pattern": "^[a-z]+$"}, {"body": "x"}, b"x"),
        posted(
            "text of another pattern", "text/plain", {**STRING, "pattern": "^[a-z]+$"}, {"body": "X"}, b"", refused=BAD
        ),
        posted("text of a choice", "text/plain", {**STRING, "enum": ["on", "off"]}, {"body": "on"}, b"on"),
        posted("CSV", "text/csv", STRING, {"body": "a,b\n"}, b"a,b\n"),
        posted("XML as text", "application/xml", {}, {"body": "<a/>"}, b"<a/>"),
        posted(
            "bytes", "*/*", {"type": "string", "format": "binary"}, {"body": PNG64}, PNG, "application/octet-stream"
        ),
        Case(
            "a form with a file is no text",
            {"file": PNG64},
            method="POST",
            content=dict.fromkeys(("application/x-www-form-urlencoded", "multipart/form-data"), FILE_FORM),
            headers={"Content-Type": "multipart/form-data; boundary={B}"},
            body=form_part("file", PNG, "application/octet-stream", "file") + b"--{B}--\r\n",
        ),
    ]


FILE_FORM = {"schema": {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}}
