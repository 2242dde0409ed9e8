"""The credentials of a table: where each is sent, from which variables, and by how many operations."""

from __future__ import annotations

from aqlgen.ir import Json
from aqlgen.runtime.auth.usage import Usage, place_of
from aqlgen.table.model import Table

__all__ = ["table_credentials"]


def table_credentials(table: Table) -> list[dict[str, Json]]:
    """Return each security scheme: name, type, variables by need, where it is sent, and how many operations use it.

    `operations` has `using`, which name it among their alternatives, and `needing`, which are not called without it.
    """
    adapter = table.adapter
    parts = adapter.of_each_api()
    requirements = [parts[row.row.api].security if row.row.security is None else row.row.security for row in table.rows]
    naming = Usage.of(requirements, ()).naming
    return [
        {
            "name": name,
            "type": scheme.get("type", ""),
            "variables": list(scheme.get("variables", ())),
            "optional_variables": dict(scheme.get("optional_variables", {})),
            "sent": place_of(scheme),
            "operations": {
                "using": naming[name],
                "needing": sum(
                    bool(alternatives) and all(name in names for names in alternatives) for alternatives in requirements
                ),
            },
        }
        for name, scheme in adapter.security_schemes.items()
    ]
