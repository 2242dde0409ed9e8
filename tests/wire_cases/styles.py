"""The examples of RFC 6570 in the styles that OpenAPI maps to it, and what those examples leave out."""

from __future__ import annotations

from typing import Any

from .case import BOOLEAN, INTEGER, MAP, NUMBER, STRING, STRINGS, Case, parameter, ruled, styled

KEYS = {"semi": ";", "dot": ".", "comma": ","}
LIST = ["red", "green", "blue"]
INTEGERS = {"type": "array", "items": INTEGER}
PERHAPS = {"type": "array", "items": {"type": ["string", "null"]}}
FIELDS = {"type": "object", "properties": {"R": INTEGER, "G": {"type": ["integer", "null"]}}}


def expansions() -> list[Case]:
    """Return the examples of RFC 6570, 3.2, for the values of its section 3.2 and 2.4."""
    paths: list[tuple[str, bool | None, Any, Any, str]] = [
        ("simple", None, STRING, "value", "/value"),
        ("simple", None, STRING, "Hello World!", "/Hello%20World%21"),
        ("simple", None, STRING, "50%", "/50%25"),
        ("simple", None, STRING, "/foo/bar", "/%2Ffoo%2Fbar"),
        ("simple", False, INTEGERS, [1024, 768], "/1024,768"),
        ("simple", False, STRINGS, LIST, "/red,green,blue"),
        ("simple", False, MAP, KEYS, "/semi,%3B,dot,.,comma,%2C"),
        ("simple", True, MAP, KEYS, "/semi=%3B,dot=.,comma=%2C"),
        ("label", None, STRING, "50%", "/.50%25"),
        ("label", False, STRINGS, LIST, "/.red,green,blue"),
        ("label", True, STRINGS, LIST, "/.red.green.blue"),
        ("label", False, MAP, KEYS, "/.semi,%3B,dot,.,comma,%2C"),
        ("label", True, MAP, KEYS, "/.semi=%3B.dot=..comma=%2C"),
        ("matrix", None, STRING, "50%", "/;color=50%25"),
        ("matrix", False, STRINGS, LIST, "/;color=red,green,blue"),
        ("matrix", True, STRINGS, LIST, "/;color=red;color=green;color=blue"),
        ("matrix", False, MAP, KEYS, "/;color=semi,%3B,dot,.,comma,%2C"),
        ("matrix", True, MAP, KEYS, "/;semi=%3B;dot=.;comma=%2C"),
    ]
    queries: list[tuple[str, bool | None, Any, Any, str]] = [
        ("form", None, STRING, "Hello World!", "?color=Hello%20World%21"),
        ("form", None, INTEGER, 1024, "?color=1024"),
        ("form", False, STRINGS, LIST, "?color=red,green,blue"),
        ("form", True, STRINGS, LIST, "?color=red&color=green&color=blue"),
        ("form", False, MAP, KEYS, "?color=semi,%3B,dot,.,comma,%2C"),
        ("form", True, MAP, KEYS, "?semi=%3B&dot=.&comma=%2C"),
        ("form", False, INTEGERS, [1024, 768], "?color=1024,768"),
    ]
    return [
        *ruled("RFC 6570, 3.2.2 Simple String Expansion", (styled("path", *row) for row in paths[:8])),
        *ruled("RFC 6570, 3.2.5 Label Expansion with Dot-Prefix", (styled("path", *row) for row in paths[8:13])),
        *ruled("RFC 6570, 3.2.7 Path-Style Parameter Expansion", (styled("path", *row) for row in paths[13:])),
        *ruled("RFC 6570, 3.2.8 Form-Style Query Expansion", (styled("query", *row) for row in queries)),
    ]


def undefined() -> list[Case]:
    """Return nulls within lists and objects, which are undefined and leave no trace (RFC 6570, 2.3)."""
    rows = [
        ("form", True, PERHAPS, ["a", None, "b"], "?color=a&color=b"),
        ("form", False, PERHAPS, ["a", None, "b"], "?color=a,b"),
        ("pipeDelimited", False, PERHAPS, ["a", None, "b"], "?color=a%7Cb"),
        ("spaceDelimited", False, PERHAPS, [None, "b"], "?color=b"),
        ("form", True, FIELDS, {"R": 1, "G": None}, "?R=1"),
        ("form", False, FIELDS, {"R": 1, "G": None}, "?color=R,1"),
        ("deepObject", True, FIELDS, {"R": 1, "G": None}, "?color%5BR%5D=1"),
    ]
    paths = [
        ("simple", False, PERHAPS, ["a", None, "b"], "/a,b"),
        ("matrix", True, PERHAPS, ["a", None], "/;color=a"),
        ("simple", True, FIELDS, {"R": 1, "G": None}, "/R=1"),
    ]
    cases = [*(styled("query", *row) for row in rows), *(styled("path", *row) for row in paths)]
    cases.append(styled("header", "simple", False, PERHAPS, ["a", None, "b"], "a,b"))
    return ruled("RFC 6570, 2.3 Variables; OpenAPI 3.1.1, appendix C", cases)


def delimited() -> list[Case]:
    """Return lists and objects of numbers and booleans, and delimiters within values."""
    booleans = {"type": "array", "items": BOOLEAN}
    numbers = {"type": "array", "items": NUMBER}
    rows: list[tuple[str, bool | None, Any, Any, str]] = [
        ("spaceDelimited", False, INTEGERS, [1, 2], "?color=1%202"),
        ("pipeDelimited", False, INTEGERS, [1, 2], "?color=1%7C2"),
        ("pipeDelimited", False, booleans, [True, False], "?color=true%7Cfalse"),
        ("spaceDelimited", False, STRINGS, ["a"], "?color=a"),
        ("pipeDelimited", False, STRINGS, ["a"], "?color=a"),
        ("form", False, booleans, [True, False], "?color=true,false"),
        ("form", True, numbers, [1.5, 2.0], "?color=1.5&color=2"),
        ("form", False, STRINGS, ["é", "日"], "?color=%C3%A9,%E6%97%A5"),
        ("deepObject", True, MAP, {"a": "x&y", "b": 1.5}, "?color%5Ba%5D=x%26y&color%5Bb%5D=1.5"),
        ("deepObject", True, MAP, {"é": True}, "?color%5B%C3%A9%5D=true"),
        ("deepObject", True, MAP, {"a]": "b["}, "?color%5Ba%5D%5D=b%5B"),
        ("form", True, STRINGS, ["", "a"], "?color=&color=a"),
        ("form", False, STRINGS, ["a", ""], "?color=a,"),
    ]
    return ruled("OpenAPI 3.1.1, 4.8.12.3 Style Values", (styled("query", *row) for row in rows))


def reserved() -> list[Case]:
    """Return `allowReserved`: what RFC 3986 reserves stays, but for what ends a pair or a query."""
    texts = [
        ("!$'()*", "?color=!$'()*"),
        ("a:b@c", "?color=a:b@c"),
        ("/?", "?color=/?"),
        ("a&b", "?color=a%26b"),
        ("a b", "?color=a%20b"),
        ("é", "?color=%C3%A9"),
        ('"<>', "?color=%22%3C%3E"),
        ("50%", "?color=50%25"),
        ("%e9", "?color=%e9"),
    ]
    cases = [styled("query", "form", None, STRING, text, written, allowReserved=True) for text, written in texts]
    cases.append(styled("query", "form", True, STRINGS, ["a/b", "c:d"], "?color=a/b&color=c:d", allowReserved=True))
    cases.append(styled("query", "form", False, STRINGS, ["a/b", "c:d"], "?color=a/b,c:d", allowReserved=True))
    cases.append(styled("query", "form", True, MAP, {"a": "b/c"}, "?a=b/c", allowReserved=True))
    return ruled("OpenAPI 3.1.1, 4.8.12.2.2 allowReserved; RFC 3986, 2.2", cases)


def heads() -> list[Case]:
    """Return headers and cookies of further types."""
    rows: list[tuple[str, str, bool | None, Any, Any, str]] = [
        ("header", "simple", None, INTEGER, -5, "-5"),
        ("header", "simple", None, INTEGERS, [1, 2], "1,2"),
        ("header", "simple", None, STRING, "2026-01-31T12:00:00+02:00", "2026-01-31T12:00:00+02:00"),
        ("header", "simple", None, STRING, 'W/"abc"', 'W/"abc"'),
        ("header", "simple", None, STRING, "a=b; c=d", "a=b; c=d"),
        ("header", "simple", True, MAP, {"a": "b", "c": 1}, "a=b,c=1"),
        ("header", "simple", False, MAP, {"a": "b", "c": True}, "a,b,c,true"),
        ("cookie", "form", None, INTEGER, 7, "color=7"),
        ("cookie", "form", None, NUMBER, 1.5, "color=1.5"),
        ("cookie", "form", None, STRING, "é", "color=%C3%A9"),
        ("cookie", "form", None, STRING, 'a"b\\c', "color=a%22b%5Cc"),
        ("cookie", "form", False, INTEGERS, [1, 2], "color=1,2"),
    ]
    cases = [styled(*row) for row in rows]
    names = (parameter("A", "cookie", STRING), parameter("b", "cookie", STRING), parameter("C", "cookie", STRING))
    cases.append(Case("cookies in the order of the document", {"A": "1", "C": "3"}, parameters=names,
                      headers={"Cookie": "A=1; C=3"}))  # fmt: skip
    return ruled("OpenAPI 3.1.1, 4.8.12.1 Parameter Locations", cases)


STYLES = (*expansions(), *undefined(), *delimited(), *reserved(), *heads())
