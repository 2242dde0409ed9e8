"""The answers to the template's questions: what the texts of a project say about this API.

Each answer is text without control characters; of several entries each is a line. The template shows them as inert
text, since the document is untrusted; its texts reach no file of code.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from aqlgen.decide.decision import Category
from aqlgen.diagnostics.plain import plain
from aqlgen.ir import Json
from aqlgen.resources import Release
from aqlgen.runtime.auth import KEY, sent_as
from aqlgen.runtime.table import SecurityScheme
from aqlgen.schemas.descriptions import HEAD, REFERENCE, SENTENCE_END
from aqlgen.table.access import main_address_problem, table_credentials, table_hosts
from aqlgen.table.identity import Identity
from aqlgen.table.model import DecidedRow, Table

_CONFIRMED: Final = ("forbidden", "dangerous", "destructive")
"""The levels of danger that are not simply run, the gravest first."""

_MOST_NAMES: Final = 8
_MOST_VARIABLES: Final = 60
_LONGEST_CALL: Final = 200
"""Characters of the parameters of an example that a reader takes in."""

_FAMILIES_OF_CHANGES: Final = ("create", "update", "execute", "delete")

_KINDS: Final = {
    "apiKey": "API key",
    "http": "token",
    "oauth2": "OAuth 2.0 access token",
    "openIdConnect": "OpenID Connect access token",
    "mutualTLS": "client certificate or its key",
}
_HALVES: Final = {"_USERNAME": "user name", "_PASSWORD": "password"}

_ROLES: Final = {
    "client_id": "id of your OAuth client, to get tokens with",
    "client_secret": "secret of your OAuth client",
    "refresh_token": "refresh token, from which tokens are renewed",
    "scopes": "scopes to ask for, instead of those that the operations need",
    "audience": "audience to ask for",
    "token_url": "token endpoint, instead of the document's",
}


def template_answers(identity: Identity, table: Table, license: str, release: Release) -> dict[str, str]:
    """Return the answers by question (`copier.yml`); `release` is that of the templates.

    What the project holds of the runtime and of the parts is not asked of the document.
    """
    adapter = table.adapter
    source = {"template_url": release.address, "template_tag": release.tag} if release.tag and release.address else {}
    return {
        "name": identity.name,
        "package": identity.package,
        "env_prefix": identity.prefix,
        "title": plain(adapter.title, 200),
        "description": plain(_first_sentence(adapter.description), 500),
        "version": adapter.version,
        "license": license,
        "hosts": "\n".join(_host_lines(table)),
        "base_url": plain(next((server["url"] for server in adapter.servers), "")),
        "credentials": "\n".join(credential_lines(table)),
        "calls": "\n".join(call_lines(table)),
        "confirmations": "\n".join(confirmation_lines(table)),
        **source,
    }


def _first_sentence(description: str) -> str:
    """Return the first sentence, without the mark of a heading or a quotation, "" if it only refers elsewhere."""
    text = HEAD.sub("", description, count=1) if description.startswith((">", "#")) else description
    sentence = SENTENCE_END.split(text, maxsplit=1)[0]
    return "" if REFERENCE.match(sentence) else sentence


def credential_lines(table: Table) -> list[str]:
    """Return `VARIABLE: what it is for` for each variable of a credential; `VARIABLE?` for one that is not needed.

    Those of schemes that operations use come first, the most used before others. A host that the owner has to choose is
    before them, since credentials are sent to it.
    """
    schemes = table.adapter.security_schemes
    uses = {entry["name"]: entry["operations"]["using"] for entry in table_credentials(table)}
    lines, problem = dict[str, str](), main_address_problem(table.adapter)
    if schemes and problem is not None and problem.variables:
        values = problem.remedy.partition("=")[2]
        lines[problem.setting] = plain(f"{problem.setting}?: {values} in the URL of the API ({problem.reason})")
    for name in sorted(schemes, key=lambda name: -uses[name]):
        scheme = schemes[name]
        for variable in scheme.get("variables", ()):
            purpose = plain(_purpose(name, scheme, variable), 300)
            lines.setdefault(variable, f"{variable}{'' if uses[name] else '?'}: {purpose}")
        for role, variable in scheme.get("optional_variables", {}).items():
            lines.setdefault(variable, plain(f"{variable}?: {name}: {_ROLES.get(role, role.replace('_', ' '))}"))
    return list(lines.values())[:_MOST_VARIABLES]


def _purpose(name: str, scheme: SecurityScheme, variable: str) -> str:
    half = next((kind for end, kind in _HALVES.items() if variable.endswith(end)), "")
    described = _first_sentence(scheme.get("description", "")).rstrip(".")
    if described:
        what = f"{half}: {described}" if half else described
    else:
        what = f"{half or _KINDS.get(scheme['type'], 'credential')} of {name}"
    sent = sent_as(scheme).replace(KEY, "…")
    return f"{what} ({sent})" if sent else what


def call_lines(table: Table) -> list[str]:
    """Return up to three calls, `operation {parameters}`: a list or search, a read of one, and a change.

    They are of one thing where it has all three: of the thing that most operations are about, by its name or by being
    below its path, and the more of the three it has, the better.
    """
    roles: dict[str, dict[str, DecidedRow]] = {}
    for role, rows in (("list", _lists(table)), ("read", _reads(table)), ("change", _changes(table))):
        for row in rows:
            roles.setdefault(row.row.resource, {}).setdefault(role, row)
    weights = _weights(table, roles)
    order = sorted(roles, key=lambda thing: (-len(roles[thing]) * weights[thing], len(thing), thing))
    chosen: dict[str, DecidedRow] = {}
    for thing in order:
        chosen = {**roles[thing], **chosen}
        if len(chosen) == 3:
            break
    rows = [chosen[role] for role in ("list", "read", "change") if role in chosen]
    return [f"{row.name} {_json(row.row.example or {})}" for row in rows]


def _weights(table: Table, things: Iterable[str]) -> Counter[str]:
    """Count for each thing the operations of its name, and those below the paths at which one of it is."""
    paths: dict[str, str] = {}
    known = frozenset(things)
    counts: Counter[str] = Counter()
    for row in table.rows:
        counts[row.row.resource] += 1
        if row.row.resource in known and row.row.method == "GET" and row.row.path.endswith("}"):
            paths[row.row.path] = row.row.resource
    for row in table.rows:
        for prefix in _prefixes(row.row.path):
            if prefix in paths and paths[prefix] != row.row.resource:
                counts[paths[prefix]] += 1
    return counts


def _prefixes(path: str) -> Iterator[str]:
    """Yield the paths above a path."""
    while "/" in path.strip("/"):
        path = path.rpartition("/")[0]
        yield path


def _lists(table: Table) -> list[DecidedRow]:
    rows = [row for row in table.of(Category.READ.family) if row.row.verb in ("list", "search", "find", "query")]
    return _simplest(row for row in rows if row.row.danger == "safe")


def _reads(table: Table) -> list[DecidedRow]:
    rows = [row for row in table.of(Category.READ.family) if row.row.verb == "get" and _required(row)]
    return _simplest(row for row in rows if row.row.danger == "safe")


def _changes(table: Table) -> list[DecidedRow]:
    families = [table.of(family) for family in _FAMILIES_OF_CHANGES]
    return [row for rows in families for row in _simplest(row for row in rows if row.row.danger != "forbidden")]


def _simplest(rows: Iterable[DecidedRow]) -> list[DecidedRow]:
    """Return the rows whose example can be shown, those with few required parameters and a short name first."""
    examples = ((row, row.row.example) for row in rows if not row.row.deprecated)
    shown = [row for row, example in examples if example is not None and len(_json(example)) <= _LONGEST_CALL]
    return sorted(shown, key=lambda row: (len(_required(row)), len(row.name), row.name))


def _required(row: DecidedRow) -> list[str]:
    return [name for name, parameter in row.row.shown_parameters.items() if parameter.required]


def _json(value: Mapping[str, Json]) -> str:
    """Return a value as JSON in one line; characters that people cannot see are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text == plain(text) else json.dumps(value)


def confirmation_lines(table: Table) -> list[str]:
    """Return `danger number: names` for what is asked about or refused, the gravest first, and `first_call` last.

    The number of other operations is left out: a read more changes nothing in the README.
    """
    lines = []
    asked = {danger: [row for row in table.rows if row.row.danger == danger] for danger in _CONFIRMED}
    asked["first_call"] = [row for row in table.rows if row.row.asked == "first"]
    for danger, rows in asked.items():
        if rows:
            grave = sorted(rows, key=lambda row: (row.row.danger_reason.startswith("category"), row.name))
            lines.append(f"{danger} {len(rows)}: {' '.join(row.name for row in grave[:_MOST_NAMES])}")
    return lines


def _host_lines(table: Table) -> list[str]:
    """Return a line for each host to which something goes, or would go if it were accepted.

    It has no number of operations: a new operation changes nothing in the README.
    """
    lines = []
    for use in table_hosts(table):
        if use.is_used:
            purposes: Sequence[str] = [*(["operations"] if use.operations else []), *use.purposes]
            credentials = f", with credentials {', '.join(use.credentials)}" if use.credentials else ""
            refused = "" if use.accepted_by else "; not accepted, so nothing is sent"
            lines.append(plain(f"{use.origin}: {', '.join(purposes)}{credentials}{refused}"))
    return lines
