"""Parameters: styles, values, contents, places."""

from __future__ import annotations

from typing import Any

from .case import BAD, BOOLEAN, COLORS, INTEGER, MAP, NUMBER, RGB, SHADE, STRING, STRINGS, Case, parameter, styled


def paths() -> list[Case]:
    """Return the styles of a path (the table of 4.8.12.4, and RFC 6570 for what it leaves open)."""
    rows: list[tuple[str, bool | None, Any, Any, str]] = [
        ("simple", False, STRING, "blue", "/blue"),
        ("simple", False, STRINGS, COLORS, "/blue,black,brown"),
        ("simple", True, STRINGS, COLORS, "/blue,black,brown"),
        ("simple", False, RGB, SHADE, "/R,100,G,200,B,150"),
        ("simple", True, RGB, SHADE, "/R=100,G=200,B=150"),
        ("simple", None, RGB, SHADE, "/R,100,G,200,B,150"),
        ("label", False, STRING, "", "/."),
        ("label", False, STRING, "blue", "/.blue"),
        ("label", False, STRINGS, COLORS, "/.blue,black,brown"),
        ("label", True, STRINGS, COLORS, "/.blue.black.brown"),
        ("label", False, RGB, SHADE, "/.R,100,G,200,B,150"),
        ("label", True, RGB, SHADE, "/.R=100.G=200.B=150"),
        ("matrix", False, STRING, "", "/;color"),
        ("matrix", False, STRING, "blue", "/;color=blue"),
        ("matrix", False, STRINGS, COLORS, "/;color=blue,black,brown"),
        ("matrix", True, STRINGS, COLORS, "/;color=blue;color=black;color=brown"),
        ("matrix", False, RGB, SHADE, "/;color=R,100,G,200,B,150"),
        ("matrix", True, RGB, SHADE, "/;R=100;G=200;B=150"),
        ("simple", False, STRINGS, ["a,b", "c/d", "é"], "/a%2Cb,c%2Fd,%C3%A9"),
        ("label", True, STRINGS, ["a.b", "c"], "/.a.b.c"),
        ("matrix", True, STRINGS, ["a;b=c", ""], "/;color=a%3Bb%3Dc;color"),
        ("simple", False, MAP, {"a=b": "c,d"}, "/a%3Db,c%2Cd"),
    ]
    return [case for case in (styled("path", *row) for row in rows) if case.target != "/."]


def values() -> list[Case]:
    """Return single values: nothing leaves its place, and nothing is written as Python would."""
    values: list[tuple[Any, Any, str]] = [
        (STRING, "a/b", "a%2Fb"),
        (STRING, "a?b=c", "a%3Fb%3Dc"),
        (STRING, "a#b", "a%23b"),
        (STRING, "a b+c", "a%20b%2Bc"),
        (STRING, "100%", "100%25"),
        (STRING, "%2F", "%252F"),
        (STRING, "a&b;c", "a%26b%3Bc"),
        (STRING, "a\r\nb", "a%0D%0Ab"),
        (STRING, "...", "..."),
        (STRING, "日本", "%E6%97%A5%E6%9C%AC"),
        (STRING, "😀", "%F0%9F%98%80"),
        (STRING, "-._~", "-._~"),
        (STRING, "a:b@c", "a%3Ab%40c"),
        (STRING, "True", "True"),
        (STRING, "2026-01-31T12:00:00+02:00", "2026-01-31T12%3A00%3A00%2B02%3A00"),
        (INTEGER, 42, "42"),
        (INTEGER, -1, "-1"),
        (INTEGER, 12345678901234567890123, "12345678901234567890123"),
        (NUMBER, 1.5, "1.5"),
        (NUMBER, 3.0, "3"),
        (BOOLEAN, True, "true"),
        (BOOLEAN, False, "false"),
    ]
    cases = []
    for schema, value, written in values:
        cases.append(styled("path", "simple", None, schema, value, f"/{written}"))
        cases.append(styled("query", "form", None, schema, value, f"?color={written}"))
    return cases


def refused() -> list[Case]:
    """Return values that would name another resource, or end a header."""
    color = parameter("color", "path", STRING)
    cases = [
        Case(f"path {value!r} is refused", {"color": value}, path="/{color}", parameters=(color,), refused=code)
        for value, code in ((".", BAD), ("..", BAD), ("", BAD), ("../../x", BAD))
    ]
    label = parameter("color", "path", STRING, style="label")
    cases.append(Case("label of nothing", {"color": ""}, path="/{color}", parameters=(label,), refused=BAD))
    for name, value in (("line feed", "a\nb"), ("carriage return", "a\rb"), ("bell", "a\a")):
        header = parameter("X-One", "header", STRING)
        cases.append(Case(f"header with {name}", {"X-One": value}, parameters=(header,), refused=BAD))
    return cases


def queries() -> list[Case]:
    """Return the styles of a query."""
    rows: list[tuple[str, bool | None, Any, Any, str]] = [
        ("form", True, STRING, "", "?color="),
        ("form", True, STRINGS, COLORS, "?color=blue&color=black&color=brown"),
        ("form", None, STRINGS, COLORS, "?color=blue&color=black&color=brown"),
        ("form", False, STRINGS, COLORS, "?color=blue,black,brown"),
        ("form", False, RGB, SHADE, "?color=R,100,G,200,B,150"),
        ("form", True, RGB, SHADE, "?R=100&G=200&B=150"),
        ("spaceDelimited", False, STRINGS, COLORS, "?color=blue%20black%20brown"),
        ("spaceDelimited", None, STRINGS, COLORS, "?color=blue%20black%20brown"),
        ("spaceDelimited", False, RGB, SHADE, "?color=R%20100%20G%20200%20B%20150"),
        ("pipeDelimited", False, STRINGS, COLORS, "?color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", None, STRINGS, COLORS, "?color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", False, RGB, SHADE, "?color=R%7C100%7CG%7C200%7CB%7C150"),
        ("deepObject", True, RGB, SHADE, "?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        ("deepObject", True, MAP, {"a": {"b": 1}}, "?color%5Ba%5D%5Bb%5D=1"),
        ("deepObject", True, MAP, {"a b": True}, "?color%5Ba%20b%5D=true"),
        ("form", True, STRINGS, [], ""),
        ("form", False, STRINGS, [], ""),
        ("form", True, MAP, {}, ""),
        ("deepObject", True, MAP, {}, ""),
        ("form", True, {"type": ["string", "null"]}, None, ""),
        ("form", True, STRINGS, ["a,b", "c&d"], "?color=a%2Cb&color=c%26d"),
        ("form", False, STRINGS, ["a,b", "c&d"], "?color=a%2Cb,c%26d"),
        ("form", True, {"type": "array", "items": BOOLEAN}, [True, False], "?color=true&color=false"),
        ("form", False, {"type": "array", "items": NUMBER}, [1.0, 2.5], "?color=1,2.5"),
        ("form", True, MAP, {"a&b": "c=d"}, "?a%26b=c%3Dd"),
    ]
    cases = [styled("query", *row) for row in rows]
    for value, written in (
        ("a/b?c", "a/b?c"),
        ("a&b=c+d[e]", "a%26b=c%2Bd%5Be%5D"),
        ("x,y:z@", "x,y:z@"),
        ("a%2Fb", "a%2Fb"),
        ("#", "%23"),
    ):
        cases.append(styled("query", "form", None, STRING, value, f"?color={written}", allowReserved=True))
    cases.append(styled("query", "form", None, STRING, "", "?color=", allowEmptyValue=True))
    return cases


def contents() -> list[Case]:
    """Return parameters that are written by a content type (4.8.12.2)."""
    json = {"application/json": {"schema": {}}}
    text = {"text/plain": {"schema": STRING}}
    return [
        Case(
            "query of JSON",
            {"f": {"a": [True, None]}},
            "?f=%7B%22a%22%3A%5Btrue%2Cnull%5D%7D",
            parameters=(parameter("f", "query", None, content=json),),
        ),
        Case("query of JSON text", {"f": "x"}, "?f=%22x%22", parameters=(parameter("f", "query", None, content=json),)),
        Case(
            "query of JSON that is a text",
            {"f": "x"},
            "?f=x",
            parameters=(parameter("f", "query", None, content={"application/json": {"schema": STRING}}),),
        ),
        Case("query of text", {"f": "a b"}, "?f=a%20b", parameters=(parameter("f", "query", None, content=text),)),
        Case(
            "path of JSON",
            {"f": {"a": 1}},
            "/%7B%22a%22%3A1%7D",
            path="/{f}",
            parameters=(parameter("f", "path", None, content=json),),
        ),
        Case(
            "header of JSON",
            {"X-F": {"a": 1}},
            parameters=(parameter("X-F", "header", None, content=json),),
            headers={"X-F": '{"a":1}'},
        ),
        Case(
            "cookie of JSON",
            {"f": {"a": 1}},
            parameters=(parameter("f", "cookie", None, content=json),),
            headers={"Cookie": "f=%7B%22a%22%3A1%7D"},
        ),
    ]


def headers() -> list[Case]:
    """Return style simple of a header, which encodes nothing, and the styles of a cookie."""
    rows: list[tuple[str, str, bool | None, Any, Any, str]] = [
        ("header", "simple", None, STRING, "blue", "blue"),
        ("header", "simple", None, STRING, "a b/c?d%e", "a b/c?d%e"),
        ("header", "simple", False, STRINGS, COLORS, "blue,black,brown"),
        ("header", "simple", True, STRINGS, COLORS, "blue,black,brown"),
        ("header", "simple", False, RGB, SHADE, "R,100,G,200,B,150"),
        ("header", "simple", True, RGB, SHADE, "R=100,G=200,B=150"),
        ("header", "simple", None, BOOLEAN, True, "true"),
        ("header", "simple", None, NUMBER, 2.0, "2"),
        ("cookie", "form", None, STRING, "blue", "color=blue"),
        ("cookie", "form", False, STRINGS, COLORS, "color=blue,black,brown"),
        ("cookie", "form", False, RGB, SHADE, "color=R,100,G,200,B,150"),
        ("cookie", "form", None, STRING, "a;b=c d", "color=a%3Bb%3Dc%20d"),
        ("cookie", "form", None, BOOLEAN, False, "color=false"),
        ("header", "simple", None, STRINGS, [], ""),
        ("header", "simple", True, MAP, {}, ""),
        ("header", "simple", None, STRING, "é", "\xc3\xa9"),
        ("header", "simple", None, STRING, "a, b", "a, b"),
    ]
    reserved = styled("cookie", "form", None, STRING, "a/b:c=d;e,f", "color=a/b:c=d%3Be%2Cf", allowReserved=True)
    return [*(styled(*row) for row in rows), reserved]


def places() -> list[Case]:
    """Return names, templates and levels."""
    ext = (parameter("name", "path", STRING), parameter("ext", "path", STRING))
    same = (parameter("key", "path", STRING), parameter("key", "query", STRING), parameter("key", "header", STRING))
    return [
        Case(
            "two templates in a segment",
            {"name": "a.b", "ext": "c/d"},
            "/a.b.c%2Fd",
            path="/{name}.{ext}",
            parameters=ext,
        ),
        Case("a custom verb", {"name": "x"}, "/x:cancel", path="/{name}:cancel", parameters=ext[:1]),
        Case("a trailing slash", {"name": "x"}, "/x/", path="/{name}/", parameters=ext[:1]),
        Case(
            "a template in parentheses", {"name": "x'y"}, "/items('x%27y')", path="/items('{name}')", parameters=ext[:1]
        ),
        Case("a parameter that is used but not declared", {"other": "1"}, "/1", path="/{other}"),
        Case(
            "one name in three places",
            {"item_key": "p", "key": "q", "header_key": "h"},
            "/items/p?key=q",
            path="/items/{key}",
            parameters=same,
            headers={"key": "h"},
        ),
        Case("a parameter of the path", {"q": "1"}, "?q=1", shared=(parameter("q", "query", STRING),)),
        Case(
            "one overridden by the operation",
            {"q": ["1", "2"]},
            "?q=1,2",
            shared=(parameter("q", "query", STRING),),
            parameters=(parameter("q", "query", STRINGS, explode=False),),
        ),
        Case(
            "names as the API spells them",
            {"page[size]": 5},
            "?page%5Bsize%5D=5",
            parameters=(parameter("page[size]", "query", INTEGER),),
        ),
        Case(
            "a dollar and a dot in a name",
            {"$filter.x": "a eq 1"},
            "?%24filter.x=a%20eq%201",
            parameters=(parameter("$filter.x", "query", STRING),),
        ),
        Case(
            "two names that fold to one",
            {"userId": "1", "user_id": "2"},
            "?userId=1&user_id=2",
            parameters=(parameter("userId", "query", STRING), parameter("user_id", "query", STRING)),
        ),
        Case(
            "a fixed query in the path",
            {"q": "z"},
            "?mode=fast&q=z",
            path="?mode=fast",
            parameters=(parameter("q", "query", STRING),),
        ),
        Case(
            "headers and cookies together",
            {"a": "1", "b": "2", "X-C": "3"},
            parameters=(
                parameter("a", "cookie", STRING),
                parameter("b", "cookie", STRING),
                parameter("X-C", "header", STRING),
            ),
            headers={"Cookie": "a=1; b=2", "X-C": "3"},
        ),
        Case(
            "a header of cookies beside a cookie",
            {"Cookie": "a=1; b=3", "b": "2"},
            parameters=(parameter("Cookie", "header", STRING), parameter("b", "cookie", STRING)),
            headers={"Cookie": "a=1; b=2"},
        ),
        Case(
            "Accept, Content-Type and Authorization are no parameters",
            {},
            parameters=(parameter("Authorization", "header", STRING),),
            headers={"Authorization": None},
        ),
        Case(
            "required Accept and Content-Type of one value",
            {},
            parameters=(
                parameter(
                    "Accept", "header", {"type": "string", "default": "application/vnd.x+json;version=2"}, required=True
                ),
                parameter("Content-Type", "header", {"type": "string", "enum": ["application/json"]}, required=True),
            ),
            headers={"Accept": "application/vnd.x+json;version=2", "Content-Type": "application/json"},
        ),
        Case(
            "what is not given is not sent",
            {},
            parameters=(parameter("a", "query", {"type": "integer", "default": 3}),),
        ),
    ]
