"""The catalogue of diagnostics: title, cause and fix of every code.

A test compares it with the codes that the package uses.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from aqlgen.diagnostics.catalogue_commands import COMMAND_ENTRIES, ELEMENT_ENTRIES, Entry

_ENTRIES: Final[dict[str, Entry]] = {
    # Getting the document
    "file-not-found": Entry(
        "The file does not exist",
        "The path is misspelt, relative to another folder, or a URL of another kind than http and https.",
        "Check the path from the folder in which you run aqlgen; `-` reads standard input.",
    ),
    "file-is-a-folder": Entry(
        "The path is a folder",
        "The document is inside the folder.",
        "Name the root document, usually openapi.yaml or openapi.json.",
    ),
    "file-unreadable": Entry(
        "The file cannot be read",
        "The operating system refused, usually for lack of permissions.",
        "Make the file readable for your user, or pipe it in with `-` as its name.",
    ),
    "url-unreadable": Entry(
        "The URL cannot be fetched",
        "The server is unreachable or slow, returned an error, redirects in circles, or wants credentials.",
        "Open the URL in a browser or with curl. If it needs a login, download the document and give the file.",
    ),
    "document-found": Entry(
        "Found the document of a server",
        "You named a server or a page of it; a page there links a document, or one of the usual locations has it.",
        "Nothing, unless you mean another document: then give its URL.",
    ),
    "no-document-found": Entry(
        "The server has no document at the usual locations",
        "You named a server or a page of it. None of the usual locations has an OpenAPI document, or it needs a login.",
        "Give the URL of the document, credentials with --header, or a file.",
    ),
    "no-root-document": Entry(
        "No root document found",
        "No file in the folder or archive has the key openapi or swagger at its root, or there are too many files.",
        "Name the root document, usually openapi.yaml or openapi.json.",
    ),
    "several-root-documents": Entry(
        "Several root documents found",
        "More than one file in the folder or archive has the key openapi or swagger at its root.",
        "Name one of them. Add --allow-refs with the folder if $refs need its other files.",
    ),
    "bad-archive": Entry(
        "The archive cannot be used",
        "It is damaged, or its contents exceed the limits.",
        "Unpack it and name the folder, or pack only the document's files.",
    ),
    # What it is
    "empty-document": Entry(
        "The document is empty",
        "It contains only white space or comments, for example after a failed download.",
        "Get the document again, or check the command before the pipe.",
    ),
    "not-text": Entry(
        "The file is not JSON or YAML",
        "It is a PDF, an archive, an HTML page or other data.",
        "Give the document itself: unpack archives, and use the raw URL instead of the page that shows it.",
    ),
    "bad-encoding": Entry(
        "The encoding is not supported",
        "The document is neither UTF-8 nor UTF-16 with a byte order mark; old editors write Latin-1 or Windows-1252.",
        "Save it as UTF-8, for example: iconv -f LATIN1 -t UTF-8 in.yaml > out.yaml",
    ),
    "document-too-large": Entry(
        "The document exceeds the limits",
        "It has more bytes or values than any real API; a few YAML aliases can stand for billions of values.",
        "Split the API into several documents, or expand aliases that repeat each other.",
    ),
    "document-too-deep": Entry(
        "The document nests too deeply",
        "Objects and lists nest over hundreds of levels. A generator is faulty, or somebody attacks you.",
        "Move inner schemas to components/schemas and refer to them.",
    ),
    # Syntax
    "json-syntax": Entry(
        "The document is not valid JSON",
        "A comma, quote or bracket is missing or extra, it has a comment, or the file was truncated.",
        "Fix the position shown, or download the file again.",
    ),
    "yaml-syntax": Entry(
        "The document is not valid YAML",
        "Usually the indentation (a tab, an extra space), or unquoted text with a colon or hash.",
        "Fix the position shown, or the line before.",
    ),
    "several-documents": Entry(
        "The file contains several YAML documents",
        "A line of three dashes begins another document.",
        "Split the file, and give aqlgen the OpenAPI document.",
    ),
    "cyclic-anchor": Entry(
        "A YAML alias contains itself",
        "The alias is inside the value of its own anchor.",
        "Use $ref for recursive schemas.",
    ),
    "duplicate-key": Entry(
        "An object has a key twice",
        "The last value counts, the others are lost.",
        "Rename or remove one entry, or join their contents.",
    ),
    # OpenAPI
    "not-an-object": Entry(
        "The document is not an object",
        "Its root is a list, a string or another single value.",
        "Give the root document, which has the keys openapi, info and paths.",
    ),
    "not-openapi": Entry(
        "The document is not OpenAPI",
        "It has no key openapi or swagger: another format, or a part of a multi-file document.",
        "Give the root document; convert other formats to OpenAPI 3 first.",
    ),
    "unsupported-version": Entry(
        "The OpenAPI version is not supported",
        "aqlgen cannot read this version.",
        "Convert the document to Swagger 2.0 or OpenAPI 3.0, 3.1 or 3.2.",
    ),
    "version-not-text": Entry(
        "The version is a number",
        "YAML reads an unquoted 2.0 or 3.1 as a number, and 1.10 as 1.1.",
        'Quote versions and write them in full, such as openapi: "3.1.0".',
    ),
    "no-paths": Entry(
        "The document has no paths",
        "`paths` is missing, empty or not an object, so there are no operations.",
        "Give the document with the operations; shared components are not enough.",
    ),
    "no-operations": Entry(
        "The document has no usable operations",
        "It has only webhooks or components, every operation was skipped, or the filters excluded all.",
        "See the other findings for skipped operations; widen --include or narrow --exclude.",
    ),
    "no-server": Entry(
        "The document does not locate the API",
        "It has no server (Swagger 2.0: no host), or a relative one. If you gave the document as a URL, calls go to "
        "its host; if you gave a file, the address is unknown.",
        "Set MCP_AQL_BASE_URL, or base_url in the project's adapter.toml, or add the URL to the document.",
    ),
    "placeholder-address": Entry(
        "The server URL looks like a placeholder",
        "It has a blank to fill in, a word such as your-domain or YOUR_TENANT, a reserved name (example.com, .test), "
        "is local to the author's machine or network, or has the default of a variable without enum as its host.",
        "Set MCP_AQL_BASE_URL or MCP_AQL_SERVER_VARIABLES as the message says, or the key in adapter.toml; `doctor` "
        "shows whether a URL is missing.",
    ),
    # Swagger 2.0
    "several-bodies": Entry(
        "An operation has more than one body",
        "It declares parameters in body and in formData, or several in body.",
        "Move them into one body, or into fields of one form.",
    ),
    "no-equivalent": Entry(
        "A collectionFormat has no equivalent",
        "Swagger 2.0 does not define it, or an array is inside an array. The nearest format is used.",
        "Test the operation; if the API refuses the request, describe it in OpenAPI 3.",
    ),
    # References
    "unresolved-reference": Entry(
        "A reference has no target",
        "The $ref is misspelt, its target was renamed or removed, or references form a circle without a value.",
        "Fix the $ref. Until then, a missing schema allows any value, and a missing body skips its operation.",
    ),
    "external-reference": Entry(
        "A referenced part was not read",
        "The $ref names another file or URL that could not be read; another finding at this position has the reason.",
        "Fix the $ref, or allow it with --allow-refs.",
    ),
    "outside-reference": Entry(
        "A reference leaves the document's folder",
        "The $ref names a URL, or a file outside the given folder, archive or URL. aqlgen does not read it unasked.",
        "If you trust it, name its folder or URL with --allow-refs, or give the folder that contains all files.",
    ),
    "forbidden-reference": Entry(
        "A reference is unsafe",
        "The $ref names an absolute path or a drive, or climbs above the file system's root: an attack, or a mistake.",
        "Make it relative to its file. If the document is not yours, do not trust it.",
    ),
    # Schemas
    "bad-schema": Entry(
        "A schema keyword is invalid",
        "An unknown type, a bound that is not a number, or limits that exclude every value.",
        "Fix the keyword. Until then it is ignored, and the schema allows more than intended.",
    ),
    "schema-too-long": Entry(
        "Too many schemas describe one value",
        "In the OpenAPI document, the allOf, oneOf and anyOf of the value lead through more than 100 types in a chain, "
        "or to more than 20,000 combinations. "
        "The rest is omitted: its fields are unknown, and any value is allowed.",
        "Use shorter chains of allOf, oneOf and anyOf.",
    ),
    "bad-pattern": Entry(
        "A regular expression cannot be used",
        "It is invalid in ECMA 262, the dialect of JSON Schema, or too large to compile. Or it is a template such as "
        "YYYY-MM-DD instead of an expression, and matches no date.",
        "Fix the pattern. Until then it is not checked.",
    ),
    "bad-format": Entry(
        "A format contradicts its schema",
        "No value fits both the format and the enumeration, example or default: a uuid of 24 "
        "characters, a date-time without a zone.",
        "Fix either side. Until then the format is not checked.",
    ),
    "mistaken-media-type": Entry(
        "A media type looks wrong",
        "aqlgen replaces a misspelt or short type (multipart/form, json) by the obvious one. It replaces a type that "
        "cannot encode an object (message/rfc822) by application/json. If the document declares a string parameter as "
        "JSON, the adapter sends the string without quotes.",
        "Write the registered media type. If the API needs another one, send it with a hook.",
    ),
    "bad-default": Entry(
        "A default does not match its schema",
        "The default has a type that the schema does not allow, or is outside its enumeration or bounds. An obvious "
        'spelling ("10" for an integer) is converted.',
        "Fix the default or the schema. Until then aqlgen leaves out a default that it cannot convert.",
    ),
    # Overlays
    "invalid-overlay": Entry(
        "An overlay cannot be applied",
        "It is not an Overlay document, has an invalid JSONPath (RFC 9535), or a change does not fit its target.",
        "Fix the action at the position shown; the specification is at https://spec.openapis.org/overlay/latest.html",
    ),
    "overlay-target": Entry(
        "An overlay action changes nothing",
        "The document has no match for its target: renamed, removed or misspelt.",
        "Fix the target, or remove the action.",
    ),
    "overlay-version": Entry(
        "The overlay version is wrong",
        "The version is not supported, or the overlay uses features of a later one.",
        "Write overlay: 1.1.0 unless it uses later features.",
    ),
    # Workflows
    "invalid-workflows": Entry(
        "An Arazzo document cannot be read",
        "It is not Arazzo 1.0, or has no list of workflows.",
        "Fix the position shown; the specification is at https://spec.openapis.org/arazzo/latest.html",
    ),
    "workflow-left-out": Entry(
        "A workflow is omitted",
        "It uses something that a plan of steps cannot express, or an operation that the adapter lacks. No workflow "
        "runs in part.",
        "Change the workflow at the position shown; docs/calls.md lists the supported parts of Arazzo.",
    ),
    # Texts that agents read
    "instruction-in-text": Entry(
        "A text looks like an instruction to a model",
        "It tells its reader to ignore instructions, hide something, call other tools, or reveal secrets.",
        "Read it. Replace it with an overlay or with description in overrides.yaml; keep it if it is harmless.",
    ),
    "hidden-text": Entry(
        "A text has a part that people do not see",
        "A comment, a hidden element, a link title or a link definition, which Markdown viewers hide.",
        "Nothing: it is removed, so that agents read what people read. Move it elsewhere to silence this finding.",
    ),
    "unseen-characters": Entry(
        "A text has invisible characters",
        "Zero-width, bidirectional, control or tag characters can hide words or make equal names differ.",
        "aqlgen removes them from texts. Remove them from names, enumerations and examples, unless the API needs them.",
    ),
    # Parts that are left out
    "operation-skipped": Entry(
        "An operation is skipped",
        "It needs something that is missing or unsupported, so agents do not see it.",
        "Fix the problem in the message; other operations are not affected.",
    ),
    "inbound-webhook": Entry(
        "An operation describes a request by the API",
        "Its text says that the API calls this webhook or callback, so clients cannot; it is skipped.",
        "Move it to `webhooks` or `callbacks`. If clients do call it, correct its text with an overlay.",
    ),
    "invalid-operation": Entry(
        "An operation violates the specification",
        "The operation or its body has fields of a wrong type or lacks required ones; it is skipped.",
        "Fix the field in the message.",
    ),
    "invalid-component": Entry(
        "A component violates the specification",
        "A response, security scheme or other object has fields of a wrong type, or an unknown key.",
        "Fix the field in the message. Until then it is ignored, and the rest is served.",
    ),
    "irregular-path": Entry(
        "A path is not in OpenAPI's form",
        "It does not begin with a slash, or has a parameter after a colon (`/pets/:id`).",
        "Write it as in `/pets/{id}`. Until then aqlgen treats it as if you had.",
    ),
    "other-language": Entry(
        "The texts are not in English",
        "aqlgen reads English words only. It may miss payments, deletions by other methods, and messages to people.",
        "Set `danger` and `asked` in overrides.yaml. Until then, each write needs a confirmation at its first call.",
    ),
    "duplicate-operation-id": Entry(
        "An operationId is not unique",
        "Two operations have the same operationId, or differ in it only by case or separators.",
        "Give each operation its own. Until then, names come from method and path.",
    ),
    "operation-id-of-another": Entry(
        "A name is the operationId of another operation",
        "An agent that knows the API's operationIds would call the wrong operation. New names avoid this; this one "
        "comes from an older aqlgen or from an override.",
        "Give the operation another `name` in overrides.yaml, and leave its old name out of `aliases`.",
    ),
    "bad-parameter": Entry(
        "A parameter is invalid",
        "It violates the specification, or declared parameters and the path's placeholders differ.",
        "Declare each placeholder, and nothing else, as a required parameter with in: path.",
    ),
    "framing-parameter": Entry(
        "A parameter would control the HTTP request",
        "It sets the length, the target or the method of the request. Examples are Host, Content-Length, "
        "X-Forwarded-For, X-HTTP-Method-Override and _method. Only the adapter sets them; agents do not see them.",
        "Nothing. If the API needs one, such as a method override, add it in before_send of hooks.py.",
    ),
    "unsupported-media-type": Entry(
        "A body cannot be sent",
        "The operation accepts only content types that adapters cannot produce, or a form with unnamed files or lists.",
        "Name the form's fields in its schema, or add a content type that the API accepts.",
    ),
    "no-security-scheme": Entry(
        "The document declares no credential",
        "It has no security scheme, and no parameter looks like a key or a token.",
        "If the API needs one, add it in overrides.yaml under adapter: security_schemes and security.",
    ),
    "credential-parameter": Entry(
        "A parameter is a credential",
        "Its name, place and description are those of a key or a token, such as x-api-key or access_token.",
        "Set the variable that `doctor` names. Agents neither see nor set the parameter.",
    ),
    "security-assumed": Entry(
        "No operation requires a security scheme",
        "The document declares schemes under components/securitySchemes, but has no `security`.",
        "To send the credential of a scheme, set the variable that `doctor` names; otherwise leave it unset.",
    ),
    "key-format": Entry(
        "A key has a prefix",
        "By the document's text, a word such as `Token` goes before the key. The adapter adds this prefix.",
        "Set the variable to the key alone. If the value already begins with a word such as `Token` or `Bearer` and a "
        "space, the adapter adds no prefix.",
    ),
    "security-lifted": Entry(
        "Most operations lift the document's security",
        "They have `security: []` although the document requires a credential. Usually, this is a mistake.",
        "To send the credential, set the variable that `doctor` names; for a public API, leave it unset.",
    ),
    "security-unstated": Entry(
        "Writing operations declare no security",
        "The document declares `security` only on other operations. Usually, this is a mistake.",
        "To send the credential with them too, set the variable that `doctor` names; `security: []` in overrides.yaml "
        "prevents it.",
    ),
    "signed-requests": Entry(
        "Requests are signed",
        "The scheme is AWS Signature Version 4, computed for each request.",
        "Sign each request in before_send of hooks.py, for example with botocore, and set MCP_AQL_AUTH=none.",
    ),
    "unknown-security-scheme": Entry(
        "A security requirement names an unknown scheme",
        "The name is misspelt, or components/securitySchemes lacks a usable scheme of this name.",
        "Declare the scheme or fix the name. Until then calls lack this credential.",
    ),
    **ELEMENT_ENTRIES,
    **COMMAND_ENTRIES,
}

CATALOGUE: Final[Mapping[str, Entry]] = MappingProxyType(_ENTRIES)


_PAGE: Final = """# Diagnostics

A *diagnostic* is a message of aqlgen about a problem. This page has the cause of each message, and the fix. A message
ends with its code. If it is about a place in a file, it begins with file, line and column:

    broken.yaml:8:7: error: the name "getBook" must be lower-case words joined by _ [schema-invalid-name]

An *error* stops the command. A *warning* says that aqlgen skipped or repaired a part; with `--strict` it stops the
command too. A *note* only informs, and needs `-v`. Of similar messages, you see the first three, and with
`--output-format json` all. An "element" is an [adapter element](adapter-element.md). Errors of a running adapter are
on [another page](agents.md#results-and-errors).

| code | cause | fix |
|---|---|---|
"""


def page() -> str:
    """Return the catalogue as the page of the documentation, in Markdown."""
    rows = (
        f"| `{code}` | **{entry.title}.** {entry.cause} | {entry.fix} |\n" for code, entry in sorted(_ENTRIES.items())
    )
    return _PAGE + "".join(rows)


if __name__ == "__main__":
    sys.stdout.write(page())
