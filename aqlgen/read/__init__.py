"""Reading: from what the user named to a tree of plain data, with everything that is odd about it as diagnostics.

The way of a document: `fetch` (bytes) → `sniff` (is it something else?) → `encoding` (text) → `jsontext` or `yamltext`
(a tree) → `version` (which OpenAPI). Positions are found by `locate`, and only when something is to be reported.
"""

from aqlgen.read.fetch import Limits
from aqlgen.read.locate import locate
from aqlgen.read.source import Source, parse, read
from aqlgen.read.version import check

__all__ = ["Limits", "Source", "check", "locate", "parse", "read"]
