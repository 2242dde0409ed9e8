"""Older and newer versions."""

from __future__ import annotations

from typing import Any

from .case import BAD, MAP, PNG, PNG64, STRING, STRINGS, Case, form_part, parameter, styled


def newer() -> list[Case]:
    """Return the cases of OpenAPI 3.2."""
    form: dict[str, Any] = {"application/x-www-form-urlencoded": {"schema": MAP}}
    json: dict[str, Any] = {"application/json": {"schema": {}}}
    return [
        Case(
            "querystring of a form",
            {"q": {"a b": "c&d", "e": [1, 2]}},
            "?a+b=c%26d&e=1&e=2",
            parameters=(parameter("q", "querystring", None, content=form),),
        ),
        Case(
            "querystring of a form whose fields have styles",
            {"q": {"e": [1, 2], "f": {"g": 1}}},
            "?e=1,2&f%5Bg%5D=1",
            parameters=(
                parameter(
                    "q",
                    "querystring",
                    None,
                    content={
                        "application/x-www-form-urlencoded": {
                            "schema": MAP,
                            "encoding": {"e": {"style": "form", "explode": False}, "f": {"style": "deepObject"}},
                        }
                    },
                ),
            ),
        ),
        Case(
            "querystring of JSON",
            {"q": {"a": [1]}},
            "?%7B%22a%22%3A%5B1%5D%7D",
            parameters=(parameter("q", "querystring", None, content=json),),
        ),
        styled("cookie", "cookie", True, STRINGS, ["a", "b"], "color=a; color=b"),
        styled("cookie", "cookie", True, STRING, "a%20b", "color=a%20b"),
        Case(
            "style cookie takes nothing that ends it",
            {"c": "a;b"},
            parameters=(parameter("c", "cookie", STRING, style="cookie"),),
            refused=BAD,
        ),
        styled("path", "simple", None, STRING, "a:b,c/d", "/a:b,c%2Fd", allowReserved=True),
    ]


def older() -> list[Case]:
    """Return the cases of Swagger 2.0: collectionFormat, and forms."""
    texts: dict[str, Any] = {"type": "array", "items": STRING}

    def of(place: str, form: str | None, written: str, **more: Any) -> Case:
        fields = {} if form is None else {"collectionFormat": form}
        color = {"name": "color", "in": place, **texts, **fields, **({"required": True} if place == "path" else {})}
        call = {"color": ["a" if form == "ssv" else "a b", "c"]}
        if place == "header":
            return Case(f"{place} {form}", call, parameters=(color,), headers={"color": written})
        if place == "formData":
            body, note = written.encode(), {"name": "note", "in": "formData", "type": "string"}
            return Case(f"{place} {form}", call, method="POST", parameters=(color, note), body=body, **more)
        path = "/{color}" if place == "path" else ""
        return Case(f"{place} {form}", call, written, path=path, parameters=(color,))

    file = {"name": "file", "in": "formData", "type": "file"}
    octets = "application/octet-stream"
    return [
        of("query", None, "?color=a%20b,c"),
        of("query", "csv", "?color=a%20b,c"),
        of("query", "ssv", "?color=a%20c"),
        of("query", "tsv", "?color=a%20b%09c"),
        of("query", "pipes", "?color=a%20b%7Cc"),
        of("query", "multi", "?color=a%20b&color=c"),
        of("path", None, "/a%20b,c"),
        of("path", "ssv", "/a%20c"),
        of("path", "tsv", "/a%20b%09c"),
        of("path", "pipes", "/a%20b%7Cc"),
        of("header", None, "a b,c"),
        of("header", "ssv", "a c"),
        of("header", "tsv", "a b\tc"),
        of("header", "pipes", "a b|c"),
        of("formData", None, "color=a%20b,c", headers={"Content-Type": "application/x-www-form-urlencoded"}),
        of("formData", "tsv", "color=a%20b%09c"),
        of("formData", "pipes", "color=a%20b%7Cc"),
        of("formData", "multi", "color=a+b&color=c"),
        Case(
            "a file and a list with commas",
            {"file": PNG64, "tags": ["a", "b"]},
            method="POST",
            parameters=(file, {"name": "tags", "in": "formData", **texts}),
            headers={"Content-Type": "multipart/form-data; boundary={B}"},
            body=form_part("file", PNG, octets, "file") + form_part("tags", b"a,b") + b"--{B}--\r\n",
        ),
    ]
