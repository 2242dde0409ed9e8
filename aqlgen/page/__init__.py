"""The report of `aqlgen explain --html`: one page that holds all it needs, and needs no network and no server.

    data ── what is shown, from the decisions; every text made visible
    markup ── what stands without a script, every text escaped
    page.html, page.css, early.js, page.js ── the template; `assemble` puts all into one file

Nothing of a document becomes markup or script: texts are escaped into markup or stand in a block of JSON that no
parser of HTML can end, the script only ever sets text, and the page's policy lets nothing run or load but its own two
scripts and its style, known by their hashes.
"""

from __future__ import annotations

from aqlgen.page.assemble import assemble
from aqlgen.page.data import page_data
from aqlgen.pipeline import Prepared

__all__ = ["report"]


def report(prepared: Prepared) -> str:
    """Give the page as HTML; the same decisions always give the same text."""
    return assemble(page_data(prepared))
