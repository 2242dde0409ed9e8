"""HTTP Digest authentication (RFC 7616) against a server."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from local import Answer, Asked, Running, adapter, hidden, serving

SCHEME = {"digest": {"type": "http", "scheme": "digest", "variables": ["P_USERNAME", "P_PASSWORD"]}}


class Api:
    """Lets in who answers its challenge; a nonce is good for `uses` requests."""

    def __init__(self, uses: int = 1000, password: str = "open sesame") -> None:
        self.uses, self.password = uses, password
        self.nonce, self.counts = 0, [0]

    def __call__(self, asked: Asked) -> Answer:
        parameters = dict(re.findall(r'(\w+)="?([^",]*)"?', asked.headers.get("authorization", "")))
        stale = False
        if parameters:
            a1, a2 = (
                hashlib.sha256(text.encode()).hexdigest()
                for text in (f"ali:cave:{self.password}", f"{asked.method}:{asked.path}")
            )
            middle = f"{parameters['nonce']}:{parameters['nc']}:{parameters['cnonce']}:auth"
            right = parameters["response"] == hashlib.sha256(f"{a1}:{middle}:{a2}".encode()).hexdigest()
            count = int(parameters["nc"], 16)
            if (
                right
                and parameters["nonce"] == f"n{self.nonce}"
                and count == self.counts[-1] + 1
                and count <= self.uses
            ):
                self.counts.append(count)
                return Answer({"echo": asked.headers["authorization"]})
            stale = right
        self.nonce, self.counts = self.nonce + 1, [0]
        challenge = f'Digest realm="cave", qop="auth", algorithm=SHA-256, nonce="n{self.nonce}"'
        return Answer({}, 401, {"WWW-Authenticate": challenge + (", stale=true" if stale else "")})


ENVIRON = {"P_USERNAME": "ali", "P_PASSWORD": "open sesame"}


def test_a_challenge_is_answered_and_its_nonce_used_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(Api()) as local:
        answers = Running(adapter(tmp_path, f"{local.url}/v1", SCHEME, ["digest"]), ENVIRON).calls("op", "change", "op")
    assert [answer["success"] for answer in answers] == [True] * 3
    assert len(local.asked) == 4
    hidden(["open sesame", hashlib.sha256(b"ali:cave:open sesame").hexdigest()], *answers, *capfd.readouterr())


def test_a_stale_nonce_is_replaced(tmp_path: Path) -> None:
    with serving(Api(uses=2)) as local:
        answers = Running(adapter(tmp_path, f"{local.url}/v1", SCHEME, ["digest"]), ENVIRON).calls(*["op"] * 5)
    assert [answer["success"] for answer in answers] == [True] * 5
    assert len(local.asked) == 5 + 3


def test_a_wrong_password_is_tried_once(tmp_path: Path) -> None:
    with serving(Api(password="another")) as local:
        (answer,) = Running(adapter(tmp_path, f"{local.url}/v1", SCHEME, ["digest"]), ENVIRON).calls()
    assert answer["error"]["code"] == "PERMISSION_DENIED"
    assert len(local.asked) == 2


@pytest.mark.parametrize(
    ("header", "requests"),
    [
        ("", 1),
        ("Basic realm=x", 1),
        ('Digest realm="r"', 1),
        ('Digest realm="r", nonce="n", algorithm=ROT13', 1),
        ('Digest realm="r", nonce="n", qop="other"', 1),
        ('Digest realm="r", nonce="n", qop="auth-int"', 1),
        ("Digest =", 1),
        ('"', 1),
        ('Digest realm="r", nonce="n"', 2),
        (
            'Negotiate, Bearer realm="a, b", Digest realm="r", nonce="n", algorithm=ROT13, Digest realm="r", nonce="n"',
            2,
        ),
    ],
)
def test_the_first_challenge_that_can_be_answered_is(tmp_path: Path, header: str, requests: int) -> None:
    with serving(lambda _: Answer({}, 401, {"WWW-Authenticate": header})) as local:
        (answer,) = Running(adapter(tmp_path, f"{local.url}/v1", SCHEME, ["digest"]), ENVIRON).calls()
    assert answer["error"]["code"] == "PERMISSION_DENIED"
    assert len(local.asked) == requests
