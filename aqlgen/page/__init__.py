"""The report of `aqlgen explain --html`: one self-contained page that needs no network and no server.

    data ── what is shown, from the decisions; control characters in texts are made visible
    markup ── one file of all, and what is shown without a script; every text is escaped
    page.html, page.css, early.js, page.js ── the template

No text of a document becomes markup or script: texts are escaped in markup, or are in a block of JSON that no HTML
parser can end early; the script only sets text; and the page's Content Security Policy allows nothing but its own two
scripts and its style, by their hashes.
"""

from __future__ import annotations

from aqlgen.page.data import page_data
from aqlgen.page.markup import assemble
from aqlgen.pipeline import Prepared


def report(prepared: Prepared) -> str:
    """Return the page as HTML; the same decisions always give the same text."""
    return assemble(page_data(prepared))
