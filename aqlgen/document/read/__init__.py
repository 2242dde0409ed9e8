"""Reading: from a file, folder, archive, URL or standard input to a tree of plain data, with diagnostics.

In: the name that the user gave, or bytes. Out: a `Source`, and for a whole document the `Library` of the files beside
it (`open_document`). Stages: `fetch` (bytes) → `source` (text, then a tree, by `json_parser` or `yaml_parser`) →
`identify` (the OpenAPI version, or which other kind of file it is). `locate` gives diagnostics their positions, and is
only called when there is something to report.
"""

from aqlgen.document.read.fetch import is_markdown, open_document, read
from aqlgen.document.read.identify import Version, check, is_element
from aqlgen.document.read.library import Library, NotRead
from aqlgen.document.read.limits import Limits
from aqlgen.document.read.source import Source, locate, parse
from aqlgen.document.read.web import same_origin

__all__ = [
    "Library",
    "Limits",
    "NotRead",
    "Source",
    "Version",
    "check",
    "is_element",
    "is_markdown",
    "locate",
    "open_document",
    "parse",
    "read",
    "same_origin",
]
