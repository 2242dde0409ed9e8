"""The parts of the page that stand without a script: the map, the decisions, what needs review, what was found.

They are made from the page's data, whose texts are visible already; here they are escaped, each where it is put in.
"""

from __future__ import annotations

import html
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from aqlgen.ir import Json

__all__ = ["parts"]

MARKS: Final = {"destructive": "▲", "dangerous": "◆", "forbidden": "■"}
"""Beside a name in the map; said in words to a screen reader, and in the legend."""

GROUP: Final = 25
"""How many rows of the table of decisions stand in one group."""

Entry = Mapping[str, Json]


def parts(data: Entry) -> dict[str, str]:
    """Give the markup for each place of the template by its name."""
    operations = data["operations"]
    review = in_order_of_review(operations, data["dangers"])
    return {
        "title": text(data["title"]),
        "version": text(data["version"]),
        "source": text(data["source"]),
        "generator": text(data["generator"]),
        "lede": _lede(data, len(review)),
        "cost": _cost(data["tokens"]),
        "total": f"{len(operations):,}",
        "to-review": f"{len(review):,}",
        "findings": f"{len(data['diagnostics']):,}",
        "categories": "".join(_choice("category", one, one.lower()) for one in data["categories"]),
        "dangers": "".join(_choice("danger", one, one) for one in data["dangers"]),
        "tags": "".join(f'<option value="{text(one)}">{text(one)}</option>' for one in data["tags"]),
        "category-options": "".join(f"<option>{one}</option>" for one in data["categories"]),
        "danger-options": "".join(f"<option>{one}</option>" for one in data["dangers"]),
        "map-head": "".join(f'<th scope="col" role="columnheader">{one}</th>' for one in data["categories"]),
        "map": _map(operations, data["categories"]),
        "review": _review(review),
        "rows": _rows(operations),
        "skipped": _skipped(data["skipped"]),
        "diagnostics": _diagnostics(data["diagnostics"]),
    }


def text(value: str) -> str:
    """Escape a text for markup and for attributes in double quotes."""
    return html.escape(value, quote=True)


def name(value: str) -> str:
    """Write an operation's name so that it breaks between its words where it must."""
    return value.replace("_", "<wbr>_")


def in_order_of_review(operations: Iterable[Entry], dangers: list[str]) -> list[Entry]:
    """Give the operations that need review: the least certain first, among equals the most dangerous."""
    return sorted(
        (one for one in operations if "review" in one),
        key=lambda one: (lowest(one), -dangers.index(one["danger"]), one["name"]),
    )


def lowest(entry: Entry) -> float:
    """Give the lowest confidence of all three decisions."""
    return min(float(reason["confidence"]) for reason in entry["reasons"].values())


def _lede(data: Entry, review: int) -> str:
    """Say in two sentences what the page holds, and lead to what wants the reader."""
    operations, skipped = data["operations"], len(data["skipped"])
    resources = len({one["resource"] for one in operations})
    counts = Counter(one["category"] for one in operations)
    split = ", ".join(f"{counts[one]:,} {one}" for one in data["categories"] if counts[one])
    what = (
        f"{_many(len(operations), 'operation', 'operations')} on {_many(resources, 'resource', 'resources')}: {split}."
    )
    looks = f'<a href="#review">{_many(review, "operation needs", "operations need")} a look</a>'
    left = f'<a href="#findings">{skipped:,} left out</a>' if skipped else "nothing is left out"
    return f"{what} {looks if review else 'No decision is uncertain'}; {left}."


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def _cost(tokens: Mapping[str, int]) -> str:
    """Give the three ways to offer the API and what each costs, with bars on one scale."""
    ways = (("A tool for each operation", "discrete"), ("Five tools", "semantic"), ("One tool", "single"))
    most = max(tokens.values())
    return "".join(
        f'<tr><th scope="row">{label}</th><td class="bar">{_bar(key, tokens[key] / most)}</td>'
        f"<td>{tokens[key]:,}</td></tr>"
        for label, key in ways
    )


def _bar(kind: str, share: float) -> str:
    width = f"{max(0.4, 100 * share):.1f}"
    rect = f'<rect class="{kind}" width="{width}" height="8"/>'
    return f'<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">{rect}</svg>'


def _choice(field: str, value: str, label: str) -> str:
    return f'<label><input type="checkbox" name="{field}" value="{value}"><span>{label}</span></label>'


def _link(entry: Entry) -> str:
    return f'<a class="op" href="#op/{entry["name"]}">{name(entry["name"])}</a>'


def _api(entry: Entry) -> str:
    return f'<span class="api"><b>{text(entry["method"])}</b> {text(entry["path"])}</span>'


def _mark(kind: str, sign: str, said: str = "") -> str:
    words = f'<span class="said">, {said}</span>' if said else ""
    return f'<i class="mark {kind}" aria-hidden="true">{sign}</i>{words}'


def _map(operations: Iterable[Entry], categories: list[str]) -> str:
    groups: defaultdict[str, defaultdict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for one in operations:
        groups[one["group"]][one["resource"]].append(one)
    return "".join(
        f'<tbody role="rowgroup"><tr role="row" class="group">{_head(group, "rowgroup", len(categories) + 1)}</tr>'
        + "".join(_resource(one, resources[one], categories) for one in sorted(resources))
        + "</tbody>\n"
        for group, resources in sorted(groups.items(), key=lambda item: (item[0].lower(), item[0]))
    )


def _resource(resource: str, operations: list[Entry], categories: list[str]) -> str:
    cells = []
    for category in categories:
        held = sorted((one for one in operations if one["category"] == category), key=lambda one: str(one["name"]))
        items = "".join(f"<li>{_link(one)}{_marks(one)}</li>" for one in held)
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
    """Give a cell; its label is shown where the table has no room for a head."""
    named = f' class="{kind}"' if kind else ""
    return f'<td role="cell" data-label="{label}"{named}>{content}</td>'


def _rows(operations: list[Entry]) -> str:
    """Give all rows in groups: a browser leaves out the layout of those that are not in view."""
    groups = (operations[start : start + GROUP] for start in range(0, len(operations), GROUP))
    return "".join(f'<tbody role="rowgroup">\n{"".join(map(_row, group))}</tbody>\n' for group in groups)


def _row(entry: Entry) -> str:
    category, danger = entry["reasons"]["category"], entry["reasons"]["danger"]
    own = danger["rule"] != "category"  # else it is the category's danger, and the reader knows
    operation_id = f' <span class="id">{text(entry["operation_id"])}</span>' if "operation_id" in entry else ""
    cells = (
        f'<th scope="row" role="rowheader">{_link(entry)}{_api(entry)}{operation_id}</th>',
        _cell("Category", f"{entry['category']}<small>{text(category['rule'])}</small>"),
        _cell("Danger", _danger(entry) + (f"<small>{text(danger.get('note', danger['rule']))}</small>" if own else "")),
        _cell("Confidence", f"{entry['confidence']:.2f}", "number"),
        _cell("Tokens", f"{entry['tokens']:,}", "number"),
        _cell("To review", _reasons(entry)),
    )
    return f'<tr role="row" id="op/{entry["name"]}">{"".join(cells)}</tr>\n'


def _danger(entry: Entry) -> str:
    danger = entry["danger"]
    mark = f"{_mark(danger, MARKS[danger])} " if danger in MARKS else ""
    return f'<span class="danger {danger}">{mark}{danger}</span>'


def _reasons(entry: Entry) -> str:
    return "".join(f'<span class="why">{text(one)}</span>' for one in entry.get("review", ()))


def _review(entries: Iterable[Entry]) -> str:
    return "".join(
        f'<li><div class="what">{_link(entry)}{_api(entry)}</div>'
        f'<div class="as">{entry["category"]}, {_danger(entry)}</div>'
        f'<div class="sure"><span class="said">confidence </span>{lowest(entry):.2f}</div>'
        f'<div class="whys">{_reasons(entry)}</div></li>\n'
        for entry in entries
    )


def _skipped(skipped: Iterable[Entry]) -> str:
    return "".join(
        f"<li>{_api(one)}<p>{text(one['message'])} <code>{text(one['code'])}</code></p></li>\n" for one in skipped
    )


def _diagnostics(diagnostics: Iterable[Entry]) -> str:
    return "".join(
        f"<li><p><strong>{text(one['severity'])}</strong> {text(one['message'])} <code>{text(one['code'])}</code></p>"
        + (f"<p>{text(one['help'])}</p>" if one["help"] else "")
        + f'<p class="api">{text(one["place"])}</p></li>\n'
        for one in diagnostics
    )
