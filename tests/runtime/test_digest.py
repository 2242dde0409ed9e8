"""HTTP Digest authentication (RFC 7616), by its own examples and against a server."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from local import Answer, Asked, Running, adapter, hidden, serving

from aqlgen.runtime.auth.authorization import Challenge, DigestSession, challenges

SCHEME = {"digest": {"type": "http", "scheme": "digest", "variables": ["P_USERNAME", "P_PASSWORD"]}}
BOTH = (
    'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, '
    'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", '
    'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, '
    'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'
)


def session(header: str, user: str = "Mufasa", password: str = "Circle of Life", cnonce: str = "") -> DigestSession:
    digest_session = DigestSession(user, password, lambda: cnonce or "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
    challenge = Challenge.strongest(header)
    assert challenge is not None
    digest_session.take(challenge)
    return digest_session


def response(answer: str | None) -> str:
    match = re.search(r'response="([0-9a-f]+)"', answer or "")
    assert match
    return match[1]


def test_the_examples_of_rfc_7616_are_met() -> None:
    """RFC 7616, 3.9.1: the strongest of the challenges is answered, each of them rightly."""
    strongest = session(BOTH).answer("GET", "/dir/index.html", b"")
    assert response(strongest) == "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
    assert "algorithm=SHA-256, qop=auth, nc=00000001" in (strongest or "")
    weaker = session(BOTH[BOTH.index(", Digest") + 2 :]).answer("GET", "/dir/index.html", b"")
    assert response(weaker) == "8ca523f5e9506fed4657c9700eebdbec"


def test_the_example_of_a_hashed_user_name_is_met() -> None:
    """RFC 7616, 3.9.2, with the values of its erratum 4897"""
    header = (
        'Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, '
        'nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDssOS", '
        "charset=UTF-8, userhash=true"
    )
    digest_session = session(
        header, "J\u00e4s\u00f8n Doe", "Secret, or not?", "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"
    )
    answer = digest_session.answer("GET", "/doe.json", b"") or ""
    assert 'username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b"' in answer
    assert "userhash=true" in answer
    assert response(answer) == "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5"


def test_a_server_of_before_qop_and_a_session_algorithm_are_answered() -> None:
    """RFC 2617, 3.2.2: without qop there is neither a count nor a nonce of the client's."""
    answer = session('Digest realm="r", nonce="n"', "u", "p").answer("GET", "/", b"") or ""
    inner = hashlib.md5(b"u:r:p").hexdigest(), hashlib.md5(b"GET:/").hexdigest()
    assert response(answer) == hashlib.md5(f"{inner[0]}:n:{inner[1]}".encode()).hexdigest()
    assert "nc=" not in answer
    assert "cnonce" not in answer
    answer = session('Digest realm="r", nonce="n", qop=auth-int, algorithm=MD5-sess', "u", "p", "c").answer(
        "POST", "/x", b"body"
    )
    a1 = hashlib.md5(f"{inner[0]}:n:c".encode()).hexdigest()
    a2 = hashlib.md5(f"POST:/x:{hashlib.md5(b'body').hexdigest()}".encode()).hexdigest()
    assert response(answer) == hashlib.md5(f"{a1}:n:00000001:c:auth-int:{a2}".encode()).hexdigest()


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Basic realm=x",
        "Digest realm=x",
        "Digest nonce=x, algorithm=ROT13",
        'Digest nonce=x, qop="other"',
        '"',
        "= ,",
    ],
)
def test_what_cannot_be_answered_is_not(header: str) -> None:
    assert Challenge.strongest(header) is None


def test_challenges_of_several_schemes_are_told_apart() -> None:
    header = 'Negotiate, Bearer realm="a, b", scope="x", Digest realm="q\\"uote", nonce="n", stale=TRUE'
    assert [name for name, _ in challenges(header)] == ["negotiate", "bearer", "digest"]
    challenge = Challenge.strongest(header)
    assert challenge is not None
    assert (challenge.realm, challenge.stale) == ('q"uote', True)


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


def test_the_next_nonce_of_an_answer_is_taken() -> None:
    digest_session = session('Digest realm="r", nonce="one", qop=auth')
    digest_session.learn('nextnonce="two", rspauth="x"')
    assert 'nonce="two"' in (digest_session.answer("GET", "/", b"") or "")
