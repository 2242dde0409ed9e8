"""Texts of a corpus that are taken out or read as instructions to a model, by document: what fires, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.assemble import assemble
from aqlgen.document.request import Request
from bench.support.arguments import add_corpus, add_only, parser
from bench.support.documents import entries

CODES = ("instruction-in-text", "hidden-text", "unseen-characters")


def main(argv: Sequence[str]) -> int:
    """Print a line for each document with a finding, then each instruction, and the sums."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    add_only(arguments)
    options = arguments.parse_args(argv)
    totals: Counter[str] = Counter()
    for entry in entries(options.corpus, options.only):
        try:
            assembled = assemble(Request.of(str(entry.path), (), (), ()))
        except AqlgenError as error:
            print(f"{entry.name}: {error}")
            continue
        findings = [finding for finding in assembled.diagnostics if finding.code in CODES]
        counts = Counter(finding.code for finding in findings)
        totals += counts
        if counts:
            print(f"{entry.name}: {', '.join(f'{number} {code}' for code, number in counts.items())}")
        for finding in findings:
            if finding.code == CODES[0]:
                print(f"  {finding.line}:{finding.column} {finding.message}")
    print(", ".join(f"{totals[code]} {code}" for code in CODES))
    return 0
