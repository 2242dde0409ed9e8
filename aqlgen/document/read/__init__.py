"""Reading: from what the user named to a tree of plain data, with everything that is odd about it as diagnostics.

What the user named is `opened`: a file, folder, archive, URL or standard input, with the `Library` of its neighbours.
The way of a document: `fetch` (bytes) → `sniff` (is it something else?) → `encoding` (text) → `jsontext` or `yamltext`
(a tree) → `version` (which OpenAPI). Positions are found by `locate`, and only when something is to be reported.
"""

from aqlgen.document.read.fetch import opened, read
from aqlgen.document.read.identify import Version, check
from aqlgen.document.read.library import Library, NotRead
from aqlgen.document.read.limits import Limits
from aqlgen.document.read.locate import locate
from aqlgen.document.read.source import Source, parse
from aqlgen.document.read.web import same_origin

__all__ = [
    "Library",
    "Limits",
    "NotRead",
    "Source",
    "Version",
    "check",
    "locate",
    "opened",
    "parse",
    "read",
    "same_origin",
]
