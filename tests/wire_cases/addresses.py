"""Paths, their templates, and servers with their variables."""

from __future__ import annotations

from typing import Any

from .case import INTEGER, STRING, Case, parameter, ruled


def literals() -> list[Case]:
    """Return the fixed parts of a path: what a path may hold stays, the rest is encoded once."""
    rows = [
        ("an encoded blank", "/a%20b", "/a%20b"),
        ("a blank", "/a b", "/a%20b"),
        ("beyond ASCII", "/pätt", "/p%C3%A4tt"),
        ("a dot at the front", "/.well-known/x", "/.well-known/x"),
        ("a colon", "/v1:run", "/v1:run"),
        ("an at sign", "/@me", "/@me"),
        ("a dollar", "/$metadata", "/$metadata"),
        ("a plus", "/a+b", "/a+b"),
        ("commas and equals", "/a=1,b=2", "/a=1,b=2"),
        ("a semicolon", "/a;v=1", "/a;v=1"),
        ("parentheses and quotes", "/f('x')", "/f('x')"),
        ("an asterisk and an exclamation mark", "/a*!", "/a*!"),
        ("a tilde", "/~a", "/~a"),
        ("capitals", "/Pets/ID", "/Pets/ID"),
        ("a trailing slash", "/pets/", "/pets/"),
        ("several slashes", "/a//b", "/a//b"),
        ("a file's name", "/feed.json", "/feed.json"),
    ]
    cases = [Case(f"path with {title}", {}, written, path=path) for title, path, written in rows]
    return ruled("OpenAPI 3.1.1, 4.8.8 Paths Object; RFC 3986, 3.3", cases)


def templates() -> list[Case]:
    """Return templates beside one another and beside text."""
    a, b = parameter("a", "path", STRING), parameter("b", "path", STRING)
    rows: list[tuple[str, dict[str, Any], str, str]] = [
        ("two in sequence", {"a": "x", "b": "y"}, "/{a}/{b}", "/x/y"),
        ("two with a hyphen", {"a": "x-y", "b": "z"}, "/{a}-{b}", "/x-y-z"),
        ("two with a comma", {"a": "x,y", "b": "z"}, "/{a},{b}", "/x%2Cy,z"),
        ("two with dots", {"a": "1", "b": "2"}, "/{a}...{b}", "/1...2"),
        ("a prefix", {"a": "1"}, "/v{a}/x", "/v1/x"),
        ("an ending", {"a": "x/y"}, "/{a}.json", "/x%2Fy.json"),
        ("the same one twice", {"a": "x"}, "/{a}/of/{a}", "/x/of/x"),
        ("a value that looks like a template", {"a": "{b}", "b": "z"}, "/{a}/{b}", "/%7Bb%7D/z"),
        ("a value that is encoded already", {"a": "x%2Fy"}, "/{a}", "/x%252Fy"),
        ("a value with a fragment", {"a": "x#y"}, "/{a}", "/x%23y"),
        ("a value with a query", {"a": "x?y"}, "/{a}", "/x%3Fy"),
    ]
    cases = [
        Case(f"templates: {title}", call, written, path=path, parameters=(a, b)[: 2 if "b" in call else 1])
        for title, call, path, written in rows
    ]
    number = parameter("a", "path", INTEGER)
    cases.append(Case("templates: zero", {"a": 0}, "/0", path="/{a}", parameters=(number,)))
    return ruled("OpenAPI 3.1.1, 4.8.8.1 Path Templating", cases)


def servers() -> list[Case]:
    """Return servers of an operation, and their variables with the defaults that stand in for them."""
    stage = {"default": "one", "enum": ["one", "two"]}
    rows: list[tuple[str, dict[str, Any], str]] = [
        ("a path", {"url": "https://wire.example.com/v2"}, "https://wire.example.com/v2"),
        ("a trailing slash", {"url": "https://wire.example.com/v2/"}, "https://wire.example.com/v2"),
        ("relative to the document's host", {"url": "/v3"}, "https://wire.example.com/v3"),
        (
            "a variable in the path",
            {"url": "https://wire.example.com/{stage}", "variables": {"stage": stage}},
            "https://wire.example.com/one",
        ),
        (
            "two variables in the path",
            {"url": "https://wire.example.com/{stage}/{x}", "variables": {"stage": stage, "x": {"default": "v9"}}},
            "https://wire.example.com/one/v9",
        ),
        (
            "a variable that is empty",
            {"url": "https://wire.example.com{base}", "variables": {"base": {"default": ""}}},
            "https://wire.example.com",
        ),
        (
            "a variable with slashes",
            {"url": "https://wire.example.com/{base}", "variables": {"base": {"default": "api/v1"}}},
            "https://wire.example.com/api/v1",
        ),
        (
            "a variable of the host",
            {"url": "https://{sub}.example.com/v1", "variables": {"sub": {"default": "wire"}}},
            "https://wire.example.com/v1",
        ),
        (
            "a variable of the scheme",
            {"url": "{scheme}://wire.example.com", "variables": {"scheme": {"default": "https"}}},
            "https://wire.example.com",
        ),
    ]
    cases = [Case(f"server: {title}", {}, servers=(server,), base=base) for title, server, base in rows]
    return ruled("OpenAPI 3.1.1, 4.8.5 Server Object and 4.8.6 Server Variable Object", cases)


ADDRESSES = (*literals(), *templates(), *servers())
