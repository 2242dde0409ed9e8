"""From bytes to text: UTF-8 with or without a mark, UTF-16 with one, nothing else."""

from __future__ import annotations

import codecs

from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.positions import Lines

_HELP = "Save it as UTF-8, for example with: iconv -f LATIN1 -t UTF-8"


def decode(name: str, data: bytes) -> str:
    """Return the text without its byte order mark, line ends kept. Raises DocumentError naming the first bad byte."""
    if data.startswith(codecs.BOM_UTF32_LE):
        raise DocumentError.of("bad-encoding", "the text is UTF-32", file=name, help="Save it as UTF-8.")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _decode(name, data, "utf-16", "UTF-16")
    return _decode(name, data, "utf-8-sig", "UTF-8")


def _decode(name: str, data: bytes, codec: str, label: str) -> str:
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        # The codec counts from behind the mark that it has taken off.
        offset = error.start + len(data) - len(error.object)
        before = error.object[: error.start].decode(codec, errors="replace")
        line, column = Lines(before).place(len(before))
        raise DocumentError.of(
            "bad-encoding",
            f"not {label} at byte {offset}" + (f" (0x{data[offset]:02x})" if offset < len(data) else ""),
            file=name,
            line=line,
            column=column,
            help=_HELP,
        ) from None
