"""What else is decided about the operations of documents: how many lists page, and by what; and how long it takes.

usage: traits.py DOCUMENT ... [--show KIND]

With --show every operation that has the trait is printed, the least sure first, and every list without paging.
"""

from __future__ import annotations

import argparse
import gc
from collections import Counter
from pathlib import Path
from time import perf_counter

from aqlgen.assemble import assemble
from aqlgen.build import build
from aqlgen.decide import Overrides, decide
from aqlgen.decide.traits import with_traits
from aqlgen.decisions import AnyTrait, Decision
from aqlgen.errors import AqlgenError
from aqlgen.request import Request
from aqlgen.resolve import Resolver
from aqlgen.runtime.table import Pagination, encode

KINDS = ("update", "idempotency", "sensitive", "long_running", "deprecation")
LISTING = ("list", "search")


def decided(document: str) -> tuple[tuple[Decision, ...], float]:
    """Give the decisions about a document, and the seconds that the traits took."""
    found = assemble(Request(document))
    resolver = Resolver(found.root)
    decisions = decide(build(resolver, found.openapi).document, Overrides(), resolver)
    begin = perf_counter()
    with_traits(decisions, resolver)
    return decisions, perf_counter() - begin


def report(document: str, show: str | None) -> None:
    """Print a line for a document, and what is to be shown of it."""
    try:
        decisions, seconds = decided(document)
    except AqlgenError as error:
        print(f"{Path(document).name:28} {error}")
        return
    lists = [one for one in decisions if one.category.value == "READ" and one.verb in LISTING]
    paged = [one for one in decisions if one.trait(Pagination)]
    styles = Counter(paging.style for one in paged if (paging := one.trait(Pagination)))
    counts = " ".join(f"{kind} {sum(_trait(one, kind) is not None for one in decisions)}" for kind in KINDS)
    of_lists = sum(one.trait(Pagination) is not None for one in lists)
    print(
        f"{Path(document).name:28} {len(decisions):5} operations {seconds:.3f} s; lists {len(lists)}, paged {of_lists};"
        f" all paged {len(paged)} ({', '.join(f'{style} {count}' for style, count in styles.most_common())}); {counts}"
    )
    if show is None:
        return
    having = [(trait, one) for one in decisions if (trait := _trait(one, show)) is not None]
    for trait, one in sorted(having, key=lambda pair: pair[0].reason.confidence):
        print(f"  {trait.reason.confidence:.2f} {one.operation.key} {encode(trait.value)}")
    if show == "pagination":
        for one in lists:
            if one.trait(Pagination) is None:
                print(f"  none {one.operation.key}")


def _trait(decision: Decision, kind: str) -> AnyTrait | None:
    return next((trait for trait in decision.traits if trait.kind == kind), None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", nargs="+")
    parser.add_argument("--show", choices=("pagination", *KINDS))
    options = parser.parse_args()
    gc.disable()
    for one in options.documents:
        report(one, options.show)
