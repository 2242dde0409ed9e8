"""The characters that act on a terminal, which nothing printed or generated may hold."""

from __future__ import annotations

import re

CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
