"""Build every operation's request without sending it, and print which credential it carries, where, and which do not.

For each document every variable that `doctor` names is set to a value that can be recognised. A line stands for the
operations that carry the same; then come the operations that carry none, those that cannot be called, and parameters
that agents are shown with names of credentials. With `--alone`, one scheme is set at a time, too. With `--shown`, no
request is built: every parameter and nested field that agents are shown and that could be a secret is listed.
"""

from __future__ import annotations

import base64
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from aqlgen.decide.credentials.effective import DEPARTURES, FORMAT, NO_SCHEME
from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.request import Request
from aqlgen.pipeline import Options, prepare
from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.auth.credentials import Credentials
from aqlgen.runtime.auth.sources import report
from aqlgen.runtime.client.api import Api
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.table import Row
from aqlgen.runtime.wire import ApiRequest
from aqlgen.table.model import table_files
from bench.support.arguments import add_only, parser
from bench.support.documents import entries
from bench.support.shown_fields import shown_lines

SETTINGS = {"MCP_AQL_CONFIG": os.devnull, "MCP_AQL_STATE_URL": "memory:", "MCP_AQL_LOG_LEVEL": "error"}
AWS = {"AWS_ACCESS_KEY_ID": "value-of-AWS", "AWS_SECRET_ACCESS_KEY": "value-of-AWS", "AWS_REGION": "eu-west-1"}
PLACE = "https://api.invalid"
SUSPECT = re.compile(
    r"(?i)(^|[^a-z])(api|app|access|auth\w*|client|private|secret|subscription|user|bot|consumer)?[-_ .]?"
    r"(key|token|secret|passw(or)?d|authorization|signature|credentials?|jwt|bearer)s?$"
    r"|(apikey|appkey|appid|authtoken|accesstoken)$|^(auth|sid)$|^x-amz-"
)
MOST = 6


@dataclass
class Result:
    """The credentials of a document's requests."""

    operations: int = 0
    variables: dict[str, str] = field(default_factory=dict)
    carried: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The operations by what their requests carry."""
    refused: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    shown: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The operations by the parameters that look like credentials."""
    alone: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    headers: Mapping[str, str] = field(default_factory=dict)
    """The constant headers of every request."""


def value_of(variable: str) -> str:
    """Return the recognisable value of a variable."""
    return f"value-of-{variable}"


def marked(text: str) -> str:
    """Return a text that is sent with `<VARIABLE>` for the values of variables; "" if it has none."""
    scheme, _, rest = text.partition(" ")
    if scheme.lower() == "basic":
        try:
            text = f"{scheme} {base64.b64decode(rest).decode()}"
        except ValueError:
            return ""
    if text.startswith("AWS4-HMAC-SHA256"):
        return "AWS4-HMAC-SHA256 <signature>"
    text = re.sub(r"pending-[0-9a-f]{24}", "<fetched>", text)
    return re.sub(r"value-of-([A-Za-z0-9_]+)", r"<\1>", text) if "value-of-" in text or "<fetched>" in text else ""


def credentials_of(request: ApiRequest) -> str:
    """Return what a request carries, by its places."""
    parts = urlsplit(request.url)
    carried = [f"{name}: {marked(value)}" for name, value in request.headers if marked(value)]
    carried += [f"?{name}={marked(value)}" for name, value in parse_qsl(parts.query) if marked(value)]
    carried += [f"path {marked(unquote(parts.path))}"] if marked(unquote(parts.path)) else []
    body = (request.content or b"").decode("utf-8", "replace")
    carried += [f"body {mark}" for mark in sorted(set(re.findall(r"[^\s&{,]{1,40}value-of-[A-Za-z0-9_]+", body)))]
    return ", ".join(carried) or "none"


def example_of(row: Row) -> dict[str, Any]:
    """Return parameters of a call, with a text for each part of the path that has no example."""
    needed = {name: "x" for name, entry in row.shown_parameters.items() if entry.location == "path"}
    return {**needed, **(row.example or {})}


def options_of(spec: Path) -> Options:
    """Return the options for a document; overrides may lie beside it as `NAME.overrides.yaml`."""
    overrides = spec.with_name(f"{spec.name.split('.')[0]}.overrides.yaml")
    return Options(Request(str(spec)), "api", overrides if overrides.is_file() else None)


def built(folder: Path, environ: Mapping[str, str]) -> Iterator[tuple[Row, str, str]]:
    """Yield each operation with what its request carries, or with why it cannot be built."""
    os.environ.update(AWS)  # botocore reads no other
    parts = assemble(folder, environ={**SETTINGS, **environ})
    credentials = Credentials(parts.adapter, environ)
    api = Api.of(parts.config, parts.adapter, parts.table, parts.transport, environ=environ, credentials=credentials)
    for row in (row for name, _ in parts.table.names() if (row := parts.table.find(name)) is not None):
        try:
            yield row, credentials_of(api.build(row, example_of(row))), ""
        except Failure as failure:
            if "certificate" in failure.message:  # which the connection shows, and no request carries
                yield row, "a TLS certificate", ""
                continue
            yield row, "", re.sub(r"'[^']*'", "'…'", failure.message)[:150]


def measure(spec: Path, *, alone: bool) -> Result:
    """Build the requests of a document's operations."""
    prepared = prepare(options_of(spec), lambda _: None)
    result = Result()
    codes = {*DEPARTURES, FORMAT, NO_SCHEME}
    result.notes = [f"{note.code}: {note.message}" for note in prepared.diagnostics if note.code in codes]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for path, content in table_files(prepared.table).items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(content, encoding="utf-8")
        result.headers = prepared.table.adapter.headers
        reported = report(prepared.table.adapter, {})
        variables: dict[str, list[str]] = {entry["scheme"]: entry["variables"] for entry in reported}
        result.variables = {
            entry["scheme"]: " ".join((entry["type"], entry.get("http_scheme", ""), *entry["variables"]))
            for entry in reported
        }
        environ = {name: value_of(name) for names in variables.values() for name in names}
        servers = prepared.table.adapter.servers
        if not servers or not str(servers[0]["url"]).startswith("https://"):
            environ["MCP_AQL_BASE_URL"] = PLACE
        for row, carried, problem in built(folder, environ):
            result.operations += 1
            key = f"{row.method} {row.path}"
            (result.refused[problem] if problem else result.carried[carried]).append(key)
            for name, entry in row.shown_parameters.items():
                if SUSPECT.search(entry.wire) or SUSPECT.search(name):
                    result.shown[f"{entry.location} {entry.wire}"].append(key)
        for scheme in variables if alone and len(variables) > 1 else ():
            kept = {name: value_of(name) for name in variables[scheme]}
            kept |= {name: value for name, value in environ.items() if name == "MCP_AQL_BASE_URL"}
            counts = [carried != "none" if not problem else None for _, carried, problem in built(folder, kept)]
            result.alone[scheme] = f"{counts.count(True)} with, {counts.count(False)} without, {counts.count(None)} no"
    return result


def some(keys: Sequence[str]) -> str:
    """Return the first of some operations."""
    return ", ".join(keys[:MOST]) + (", …" if len(keys) > MOST else "")


def lines(name: str, result: Result) -> Iterator[str]:
    """Yield the lines about a document."""
    yield f"{name}: {result.operations} operations"
    for scheme, text in result.variables.items():
        alone = f"; alone: {result.alone[scheme]}" if scheme in result.alone else ""
        yield f"    scheme {scheme}: {text}{alone}"
    yield from (f"    header {key}: {value}" for key, value in result.headers.items())
    yield from (f"    note {note[:300]}" for note in result.notes)
    for carried, keys in sorted(result.carried.items(), key=lambda item: -len(item[1])):
        yield f"  {len(keys):5} carry {carried}" + (f": {some(keys)}" if carried == "none" else "")
    for problem, keys in result.refused.items():
        yield f"  {len(keys):5} REFUSED {problem}: {some(keys)}"
    for parameter, keys in result.shown.items():
        yield f"  {len(keys):5} show {parameter}: {some(keys)}"


def main(argv: Sequence[str]) -> int:
    """Print the lines of each document."""
    arguments = parser(__name__, __doc__)
    text = "a folder of API documents, with an INDEX.tsv or without, or one document"
    arguments.add_argument("documents", type=Path, help=text)
    add_only(arguments)
    arguments.add_argument("--alone", action="store_true", help="also set one scheme at a time")
    arguments.add_argument(
        "--shown", action="store_true", help="list the secrets that agents are shown, nested ones too"
    )
    options = arguments.parse_args(argv)
    for name, path in documents(options.documents, options.only):
        try:
            about = shown_lines(name, path) if options.shown else lines(name, measure(path, alone=options.alone))
            print("\n".join(about), flush=True)
        except AqlgenError as error:
            print(f"{name}: {error}", flush=True)
    return 0


def documents(place: Path, only: str) -> list[tuple[str, Path]]:
    """Return the documents of a folder by name."""
    if place.is_file():
        return [(place.name, place)]
    if (place / "INDEX.tsv").is_file():
        return [(entry.name, entry.path) for entry in entries(place, only)]
    files = sorted(path for path in place.iterdir() if path.suffix in (".json", ".yaml", ".yml"))
    files = [path for path in files if not path.name.endswith(".overrides.yaml")]
    return [(path.name, path) for path in files if re.search(only, path.name)]
