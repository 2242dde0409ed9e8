"""Reading: from what the user named to a tree of plain data, with everything that is odd about it as diagnostics.

What the user named is `opened`: a file, folder, archive, URL or standard input, with the `Library` of its neighbours.
The way of a document: `fetch` (bytes) → `sniff` (is it something else?) → `encoding` (text) → `jsontext` or `yamltext`
(a tree) → `version` (which OpenAPI). Positions are found by `locate`, and only when something is to be reported.
"""

from aqlgen.read.library import Library
from aqlgen.read.limits import Limits
from aqlgen.read.locate import locate
from aqlgen.read.opening import opened
from aqlgen.read.shelves import NotRead
from aqlgen.read.source import Source, parse, read
from aqlgen.read.version import Version, check
from aqlgen.read.web import same_origin

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
