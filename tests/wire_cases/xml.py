"""XML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .case import BOOLEAN, NUMBER, STRING, STRINGS, Case, posted


def xml_pet(title: str, schema: Any, call: Mapping[str, Any], inner: str) -> Case:
    written = f'<?xml version="1.0" encoding="UTF-8"?>{inner}'
    return posted(title, "application/xml", {"xml": {"name": "pet"}, **schema}, call, written.encode())


def xmls() -> list[Case]:
    """Return the examples of 4.8.26.2."""

    def of(**properties: Any) -> dict[str, Any]:
        return {"type": "object", "properties": properties}

    wrapped, sample = {"wrapped": True}, {"prefix": "s", "namespace": "urn:s"}
    item = {"type": "string", "xml": {"name": "animal"}}
    attributed = of(
        id={"type": "integer", "xml": {"attribute": True}},
        name={"type": "string", "xml": {"namespace": "https://example.com/schema/sample", "prefix": "sample"}},
    )
    recursive = of(name=STRING, child={"$ref": "#/components/schemas/Node"})
    return [
        xml_pet(
            "a text", of(animals=STRING), {"animals": 'a<b>&"c'}, '<pet><animals>a&lt;b&gt;&amp;"c</animals></pet>'
        ),
        xml_pet("another name", of(animals=item), {"animals": "x"}, "<pet><animal>x</animal></pet>"),
        xml_pet(
            "attribute, prefix and namespace",
            attributed,
            {"id": 123, "name": "é"},
            '<pet id="123"><sample:name xmlns:sample="https://example.com/schema/sample">é</sample:name></pet>',
        ),
        xml_pet(
            "attributes in the namespace of their element",
            of(book=of(id={"type": "integer", "xml": {"attribute": True, **sample}}, title=STRING) | {"xml": sample}),
            {"book": {"id": 1, "title": "t"}},
            '<pet><s:book xmlns:s="urn:s" s:id="1"><title>t</title></s:book></pet>',
        ),
        xml_pet(
            "a list",
            of(animals=STRINGS),
            {"animals": ["a", "b"]},
            "<pet><animals>a</animals><animals>b</animals></pet>",
        ),
        xml_pet(
            "a list whose items are named",
            of(animals={"type": "array", "items": item}),
            {"animals": ["a", "b"]},
            "<pet><animal>a</animal><animal>b</animal></pet>",
        ),
        xml_pet(
            "a named list whose items are named",
            of(animals={"type": "array", "items": item, "xml": {"name": "aliens"}}),
            {"animals": ["a"]},
            "<pet><animal>a</animal></pet>",
        ),
        xml_pet(
            "a wrapped list",
            of(animals={**STRINGS, "xml": wrapped}),
            {"animals": ["a", "b"]},
            "<pet><animals><animals>a</animals><animals>b</animals></animals></pet>",
        ),
        xml_pet(
            "a wrapped list whose items are named",
            of(animals={"type": "array", "items": item, "xml": wrapped}),
            {"animals": ["a"]},
            "<pet><animals><animal>a</animal></animals></pet>",
        ),
        xml_pet(
            "a wrapped, named list whose items are named",
            of(animals={"type": "array", "items": item, "xml": {"name": "aliens", **wrapped}}),
            {"animals": ["a"]},
            "<pet><aliens><animal>a</animal></aliens></pet>",
        ),
        xml_pet(
            "a wrapped, named list",
            of(animals={**STRINGS, "xml": {"name": "aliens", **wrapped}}),
            {"animals": ["a", "b"]},
            "<pet><aliens><aliens>a</aliens><aliens>b</aliens></aliens></pet>",
        ),
        xml_pet(
            "an object",
            of(home=of(zipCode=STRING)),
            {"home": {"zip_code": "1"}},
            "<pet><home><zipCode>1</zipCode></home></pet>",
        ),
        xml_pet(
            "what refers to itself",
            recursive,
            {"name": "a", "child": {"name": "b", "child": {"name": "c"}}},
            "<pet><name>a</name><child><name>b</name><child><name>c</name></child></child></pet>",
        ),
        xml_pet(
            "numbers and booleans", of(n=NUMBER, b=BOOLEAN), {"n": 1.0, "b": False}, "<pet><n>1</n><b>false</b></pet>"
        ),
        posted(
            "a wrapped list alone",
            "application/xml",
            {"type": "array", "items": item, "xml": {"name": "animals", **wrapped}},
            {"body": ["a", "b"]},
            b'<?xml version="1.0" encoding="UTF-8"?><animals><animal>a</animal><animal>b</animal></animals>',
        ),
        xml_pet(
            "a list with an element of its own (3.2)",
            of(animals={"type": "array", "items": item, "xml": {"nodeType": "element"}}),
            {"animals": ["a"]},
            "<pet><animals><animal>a</animal></animals></pet>",
        ),
        posted(
            "named after its component",
            "application/xml",
            {"$ref": "#/components/schemas/Node"},
            {"name": "a"},
            b'<?xml version="1.0" encoding="UTF-8"?><Node><name>a</name></Node>',
        ),
        posted(
            "of an update",
            "text/xml",
            {"$ref": "#/components/schemas/Node"},
            {"input": {"name": "a"}},
            b'<?xml version="1.0" encoding="UTF-8"?><Node><name>a</name></Node>',
            method="PUT",
        ),
    ]
