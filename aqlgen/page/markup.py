"""The page as one HTML file: the template, the style, the scripts, the data, and the parts that work without a script.

Those parts are the map, the decisions, the reviews, the diagnostics. A policy allows only what the file holds.
The page's data holds no invisible characters any more; here its texts are escaped, each where it is put in.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from aqlgen.decide.decision import Asked, Category
from aqlgen.diagnostics.plain import counted
from aqlgen.ir import Json
from aqlgen.page.worklist import worklist_markup

MARKS: Final = {"destructive": "▲", "dangerous": "◆", "forbidden": "■"}
"""Signs beside a name in the map; a screen reader and the legend have words for them."""

ROWS_PER_GROUP: Final = 25
"""Rows of the table of decisions in one `tbody`."""

Entry = Mapping[str, Json]


def parts(data: Entry) -> dict[str, str]:
    """Return the markup for each placeholder of the template, by its name."""
    operations = data["operations"]
    listed = data["reviews"]
    review = [row for row in listed if row["asked"] in ("", Asked.FIRST)]
    return {
        "title": text(data["title"]),
        "version": text(data["version"]),
        "source": text(data["source"]),
        "generator": text(data["generator"]),
        "lede": _lede(data, len(review)),
        "total": f"{len(operations):,}",
        "to-review": f"{len(review):,}",
        "asked": _asked(operations),
        "findings": f"{len(data['diagnostics']):,}",
        "categories": "".join(_choice("category", category, category.lower()) for category in data["categories"]),
        "dangers": "".join(_choice("danger", danger, danger) for danger in data["dangers"]),
        "tags": "".join(f'<option value="{text(tag)}">{text(tag)}</option>' for tag in data["tags"]),
        "category-options": "".join(f"<option>{category}</option>" for category in data["categories"]),
        "danger-options": "".join(f"<option>{danger}</option>" for danger in data["dangers"]),
        "map-head": "".join(f'<th scope="col" role="columnheader">{category}</th>' for category in data["categories"]),
        "map": _map(operations, data["categories"]),
        "review": worklist_markup(listed, operations, text, lambda entry: _link(entry) + _api(entry)),
        "rows": _rows(operations),
        "hosts": "".join(
            f"<li><p><strong>{text(host['origin'])}</strong> <code>{_acceptance(host)}</code></p>"
            f"<p>{text(host['summary'])}</p></li>\n"
            for host in data["hosts"]
        ),
        "hosts-entry": "<p>This in <code>overrides.yaml</code> accepts those refused:</p>"
        f"<pre>{text(data['hosts_entry'])}</pre>" * bool(data["hosts_entry"]),
        "skipped": "".join(
            f"<li>{_api(entry)}<p>{text(entry['message'])} <code>{text(entry['code'])}</code></p></li>\n"
            for entry in data["skipped"]
        ),
        "diagnostics": "".join(
            f"<li><p><strong>{text(entry['severity'])}</strong> {text(entry['message'])}"
            f" <code>{text(entry['code'])}</code></p>"
            + (f"<p>{text(entry['help'])}</p>" if entry["help"] else "")
            + f'<p class="api">{text(entry["place"])}</p></li>\n'
            for entry in data["diagnostics"]
        ),
    }


def text(value: str) -> str:
    """Escape a text for markup and for attributes in double quotes."""
    return html.escape(value, quote=True)


def _lede(data: Entry, review: int) -> str:
    """Return two sentences on what the page holds, with links to what needs attention."""
    operations, skipped = data["operations"], len(data["skipped"])
    resources = len({entry["resource"] for entry in operations})
    counts = Counter(entry["category"] for entry in operations)
    split = ", ".join(f"{counts[category]:,} {category}" for category in data["categories"] if counts[category])
    summary = f"{counted(len(operations), 'operation')} on {counted(resources, 'resource')}: {split}."
    needed = f"{counted(review, 'question')} {'needs' if review == 1 else 'need'}"
    looks = f'<a href="#review">{needed} a review</a>'
    left_out = f'<a href="#findings">{skipped:,} left out</a>' if skipped else "nothing is left out"
    return f"{summary} {looks if review else 'No decision is uncertain'}; {left_out}."


def _asked(operations: Iterable[Entry]) -> str:
    """Return how many operations are asked about, and when."""
    counts = Counter((entry["asked"], entry["category"] == Category.READ) for entry in operations)
    first, always = (sum(counts[asked, is_read] for is_read in (True, False)) for asked in (Asked.FIRST, Asked.ALWAYS))
    reads, changes = counts[Asked.NEVER, True], counts[Asked.NEVER, False]
    runs = "runs" if reads + changes == 1 else "run"
    return (
        f"<strong>{counted(reads + changes, 'operation')} {runs} without a confirmation</strong>:"
        f" {counted(reads, 'read')}, and {counted(changes, 'write')} that can be undone or that you accepted."
        f" <strong>{first:,} {'needs' if first == 1 else 'need'} a confirmation at the first call</strong>"
        f"{', since nothing rules out harm' if first else ''}."
        f" {always:,} {'needs' if always == 1 else 'need'} one each time."
    )


def _choice(field: str, value: str, label: str) -> str:
    return f'<label><input type="checkbox" name="{field}" value="{value}"><span>{label}</span></label>'


def _link(entry: Entry) -> str:
    breakable = entry["name"].replace("_", "<wbr>_")
    return f'<a class="op" href="#op/{entry["name"]}">{breakable}</a>'


def _api(entry: Entry) -> str:
    return f'<span class="api"><b>{text(entry["method"])}</b> {text(entry["path"])}</span>'


def _mark(kind: str, sign: str, words: str = "") -> str:
    spoken = f'<span class="said">, {words}</span>' if words else ""
    return f'<i class="mark {kind}" aria-hidden="true">{sign}</i>{spoken}'


def _map(operations: Iterable[Entry], categories: list[str]) -> str:
    groups: defaultdict[str, defaultdict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for entry in operations:
        groups[entry["group"]][entry["resource"]].append(entry)
    return "".join(
        f'<tbody role="rowgroup"><tr role="row" class="group">{_head(group, "rowgroup", len(categories) + 1)}</tr>'
        + "".join(_resource(resource, resources[resource], categories) for resource in sorted(resources))
        + "</tbody>\n"
        for group, resources in sorted(groups.items(), key=lambda item: (item[0].lower(), item[0]))
    )


def _resource(resource: str, operations: list[Entry], categories: list[str]) -> str:
    cells = []
    for category in categories:
        members = [entry for entry in operations if entry["category"] == category]
        members.sort(key=lambda entry: str(entry["name"]))
        items = "".join(f"<li>{_link(entry)}{_marks(entry)}</li>" for entry in members)
        cells.append(_cell(category, f"<ul>{items}</ul>") if items else '<td role="cell"></td>')
    return f'<tr role="row">{_head(resource.replace("_", " "))}{"".join(cells)}</tr>\n'


def _marks(entry: Entry) -> str:
    danger = entry["danger"]
    mark = _mark(danger, MARKS[danger], danger) if danger in MARKS else ""
    return mark + (_mark("look", "?", "needs review") if "review" in entry else "")


def _head(value: str, scope: str = "row", columns: int = 1) -> str:
    span = f' colspan="{columns}"' if columns > 1 else ""
    return f'<th scope="{scope}" role="rowheader"{span}>{text(value)}</th>'


def _cell(label: str, content: str, kind: str = "") -> str:
    """Return a cell; its label is shown where the table has no room for a head."""
    attribute = f' class="{kind}"' if kind else ""
    return f'<td role="cell" data-label="{label}"{attribute}>{content}</td>'


def _rows(operations: list[Entry]) -> str:
    """Return all rows in groups: a browser skips the layout of groups that are not in view."""
    groups = (operations[start : start + ROWS_PER_GROUP] for start in range(0, len(operations), ROWS_PER_GROUP))
    return "".join(f'<tbody role="rowgroup">\n{"".join(map(_row, group))}</tbody>\n' for group in groups)


def _row(entry: Entry) -> str:
    category, danger = entry["reasons"]["category"], entry["reasons"]["danger"]
    is_special = danger["rule"] != "category"  # else it is the category's danger, which needs no reason
    operation_id = f' <span class="id">{text(entry["operation_id"])}</span>' if "operation_id" in entry else ""
    cells = (
        f'<th scope="row" role="rowheader">{_link(entry)}{_api(entry)}{operation_id}</th>',
        _cell("Category", f"{entry['category']}<small>{text(category['rule'])}</small>"),
        _cell(
            "Danger",
            _danger(entry) + (f"<small>{text(danger.get('note', danger['rule']))}</small>" if is_special else ""),
        ),
        _cell("Confidence", f"{entry['confidence']:.2f}", "number"),
        _cell("To review", "".join(f'<span class="why">{text(reason)}</span>' for reason in entry.get("review", ()))),
    )
    return f'<tr role="row" id="op/{entry["name"]}">{"".join(cells)}</tr>\n'


def _danger(entry: Entry) -> str:
    danger = entry["danger"]
    mark = f"{_mark(danger, MARKS[danger])} " if danger in MARKS else ""
    return f'<span class="danger {danger}">{mark}{danger}</span>'


def _acceptance(host: Entry) -> str:
    if host["accepted"]:
        return f"accepted by {text(host['accepted_by'])}"
    return "refused until you accept it" if host["used"] else "gets no requests"


FOLDER: Final = Path(__file__).parent
PLACEHOLDER: Final = re.compile(r"\{\{([a-z-]+)\}\}")
UNSAFE: Final = re.compile("[<>&\u2028\u2029]")


def assemble(data: Mapping[str, Json]) -> str:
    """Return the template with every placeholder filled, once: what is filled in is never taken for a placeholder."""
    style, early, script = (_asset(name) for name in ("page.css", "early.js", "page.js"))
    values = parts(data) | {
        "policy": policy(styles=(style,), scripts=(early, script)),
        "style": style,
        "early": early,
        "script": script,
        "data": data_block(data),
    }
    return PLACEHOLDER.sub(lambda match: values[match[1]], _asset("page.html"))


def data_block(data: Mapping[str, Json]) -> str:
    """Return JSON that can neither end the script element around it nor open a comment in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def policy(*, styles: tuple[str, ...], scripts: tuple[str, ...]) -> str:
    """Return the Content Security Policy: nothing is loaded or sent, and only these texts, by their hashes, apply."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src {' '.join(map(_hash, styles))}",
            f"script-src {' '.join(map(_hash, scripts))}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(content.encode()).digest()).decode()}'"


def _asset(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
