"""The types of an adapter: JSON Schema 2020-12 under the agent's names, from the schemas of a document.

In: the `Resolver` of a document, and a schema with its `Place`. Out: written schemas (`Types.schema`), named types
(`Types.finish`) and diagnostics. A schema passes `normalise` (dialect), `views` (references followed, `allOf` merged)
and `writer`. `names`, `descriptions` and `patterns` also serve the operation table.
"""

from aqlgen.schemas.descriptions import prose, shorten, useful
from aqlgen.schemas.names import field_name, field_names
from aqlgen.schemas.patterns import matches
from aqlgen.schemas.types import Place, Types

__all__ = ["Place", "Types", "field_name", "field_names", "matches", "prose", "shorten", "useful"]
