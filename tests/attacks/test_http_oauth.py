"""Attacks on OAuth at the HTTP endpoint: forged and foreign tokens, keys and metadata that must not be believed."""

from __future__ import annotations

import base64
import gzip
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.api_jws import PyJWS

from aqlgen.runtime.auth.discovery import Fetch, Fetched, Unreachable
from aqlgen.runtime.server.oauth import IssuerAway, IssuerKeys, JwtVerifier
from aqlgen.runtime.settings.tables import HttpSettings
from tests.cases import each
from tests.runtime.http_endpoint import access_of, endpoint

ISSUER, AUDIENCE = "https://login.example", "https://mcp.example.com/mcp"
SIGNING, OTHER = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
RSA = rsa.generate_private_key(65537, 2048)


def jwk_of(key: Any, kid: str, **more: Any) -> dict[str, Any]:
    algorithm = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    return {**algorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, **more}


def claims_of(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    claims = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "anna",
        "client_id": "app",
        "exp": now + 600,
        "iat": now,
        "scope": "a b",
    }
    return {name: value for name, value in {**claims, **changes}.items() if value is not None}


def signed(
    claims: Mapping[str, Any] | None = None,
    *,
    key: Any = SIGNING,
    alg: str = "ES256",
    kid: str | None = "k1",
    **headers: Any,
) -> str:
    all_headers = {**({"kid": kid} if kid is not None else {}), **headers}
    return PyJWS().encode(json.dumps(dict(claims or claims_of())).encode(), key, algorithm=alg, headers=all_headers)


def unsigned(header: Mapping[str, Any], claims: Mapping[str, Any], signature: str = "") -> str:
    parts = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, claims))
    return ".".join((*parts, signature))


class FakeIssuer:
    """Documents by URL in place of the network; it counts what is read."""

    def __init__(self, *keys: Mapping[str, Any]) -> None:
        self.documents: dict[str, Any] = {
            f"{ISSUER}/.well-known/openid-configuration": {"issuer": ISSUER, "jwks_uri": f"{ISSUER}/keys"},
            f"{ISSUER}/keys": {"keys": list(keys)},
        }
        self.read: list[str] = []
        self.now = 0.0

    async def get(self, url: str) -> Fetched:
        self.read.append(url)
        if url not in self.documents:
            raise Unreachable("could not be reached")
        return Fetched(200, self.documents[url])

    def keys(self) -> IssuerKeys:
        return IssuerKeys(ISSUER, fetch=self, clock=lambda: self.now)  # type: ignore[arg-type]

    def verifier(self) -> JwtVerifier:
        return JwtVerifier(self.keys(), issuer=ISSUER, audience=AUDIENCE)


KEYS = (jwk_of(SIGNING, "k1"), jwk_of(RSA, "rsa", use="sig", alg="RS256"))
PEM = RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
GOOD_HEADER = {"alg": "ES256", "kid": "k1", "typ": "JWT"}


def hmac_with(secret: bytes, header: Mapping[str, Any]) -> str:
    import hashlib
    import hmac

    message = unsigned(header, claims_of())[:-1]
    digest = hmac.new(secret, message.encode(), hashlib.sha256).digest()
    return f"{message}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


FORGED: dict[str, Callable[[], str]] = {
    "no algorithm": lambda: unsigned({"alg": "none", "kid": "k1"}, claims_of()),
    "no algorithm, spelt otherwise": lambda: unsigned({"alg": "nOnE", "kid": "k1"}, claims_of()),
    "an empty algorithm": lambda: unsigned({"alg": "", "kid": "k1"}, claims_of()),
    "a good header and no signature": lambda: unsigned(GOOD_HEADER, claims_of()),
    "a public key as a shared secret": lambda: hmac_with(PEM, {"alg": "HS256", "kid": "rsa"}),
    "a modulus as a shared secret": lambda: hmac_with(KEYS[1]["n"].encode(), {"alg": "HS256", "kid": "rsa"}),
    "an empty shared secret": lambda: hmac_with(b"", {"alg": "HS256", "kid": "k1"}),
    "another algorithm than the key is for": lambda: signed(key=RSA, alg="PS256", kid="rsa"),
    "an algorithm of another family": lambda: signed(key=RSA, alg="RS256", kid="k1"),
    "another key": lambda: signed(key=OTHER),
    "no kid": lambda: signed(kid=None),
    "an empty kid": lambda: signed(kid=""),
    "an unknown kid": lambda: signed(kid="k9"),
    "a kid that is a path": lambda: signed(kid="../../dev/null"),
    "a key of its own": lambda: signed(key=OTHER, kid="k9", jwk=jwk_of(OTHER, "k9")),
    "a key of its own under a known kid": lambda: signed(key=OTHER, jwk=jwk_of(OTHER, "k1")),
    "an address of keys": lambda: signed(key=OTHER, kid="k9", jku="https://evil.example/keys"),
    "a certificate": lambda: signed(key=OTHER, kid="k9", x5u="https://evil.example/cert", x5c=["MIIB"]),
    "a critical header": lambda: signed(crit=["exp"], b64=True),
    "another type": lambda: signed(typ="logout+jwt"),
    "a proof of possession": lambda: signed(typ="dpop+jwt"),
    "another issuer": lambda: signed(claims_of(iss="https://evil.example")),
    "an issuer with a slash": lambda: signed(claims_of(iss=ISSUER + "/")),
    "a list of issuers": lambda: signed(claims_of(iss=[ISSUER])),
    "no issuer": lambda: signed(claims_of(iss=None)),
    "another audience": lambda: signed(claims_of(aud="https://other.example")),
    "a part of the audience": lambda: signed(claims_of(aud="https://mcp.example.com")),
    "other audiences": lambda: signed(claims_of(aud=["https://a.example", "https://b.example"])),
    "no audience": lambda: signed(claims_of(aud=None)),
    "an empty audience": lambda: signed(claims_of(aud=[])),
    "expired": lambda: signed(claims_of(exp=int(time.time()) - 120)),
    "no expiry": lambda: signed(claims_of(exp=None)),
    "an expiry that is a word": lambda: signed(claims_of(exp="never")),
    "an expiry beyond numbers": lambda: signed(claims_of(exp=1e400)),
    "not valid yet": lambda: signed(claims_of(nbf=int(time.time()) + 600)),
    "issued in the future": lambda: signed(claims_of(iat=int(time.time()) + 600)),
    "bound to a key": lambda: signed(claims_of(cnf={"jkt": "x"})),
    "nobody": lambda: signed(claims_of(sub=None, client_id=None)),
    "a subject that is no text": lambda: signed({**claims_of(), "sub": 7}),
    "a client that is no text": lambda: signed(claims_of(client_id={"a": 1})),
    "a changed claim": lambda: signed().replace(
        signed().split(".")[1], unsigned({}, claims_of(sub="root")).split(".")[1]
    ),
    "two parts": lambda: signed().rpartition(".")[0],
    "four parts": lambda: signed() + ".x",
    "encrypted": lambda: unsigned({"alg": "dir", "enc": "A128GCM", "kid": "k1"}, {}) + "..",
    "a header that is a list": lambda: unsigned([], claims_of()),  # type: ignore[arg-type]
    "claims that are a list": lambda: signed().split(".")[0] + ".W10." + signed().split(".")[2],
    "a header without end": lambda: base64.urlsafe_b64encode(b"[" * 9000).decode() + ".e30.x",
    "very long": lambda: signed(claims_of(scope="a" * 20_000)),
    "no text": lambda: "\ud800.\ud800.\ud800",
    "nothing": lambda: "",
    "dots": lambda: "..",
}


@pytest.mark.anyio
@each("name", FORGED)
async def test_a_forged_or_foreign_token_is_not_accepted(name: str) -> None:
    verifier = FakeIssuer(*KEYS).verifier()
    assert await verifier.verify_token(signed()) is not None
    assert await verifier.verify_token(FORGED[name]()) is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    "key",
    [
        {"kty": "oct", "k": base64.urlsafe_b64encode(b"s" * 32).decode(), "kid": "bad"},
        {**jwk_of(OTHER, "bad"), "use": "enc"},
        {**jwk_of(OTHER, "bad"), "key_ops": ["encrypt"]},
        {**jwk_of(OTHER, "bad"), "alg": "ES384"},
        {**jwk_of(OTHER, "bad"), "alg": "HS256"},
        {**jwk_of(OTHER, "bad"), "crv": "P-384"},
        {**jwk_of(OTHER, "bad"), "crv": ["P-256"]},
        {**jwk_of(OTHER, "bad"), "x": "AA"},
        {**jwt.algorithms.ECAlgorithm.to_jwk(OTHER, as_dict=True), "kid": "bad"},
        {**jwk_of(OTHER, "bad"), "kid": 7},
        "bad",
        None,
        {},
    ],
)
async def test_a_key_that_is_not_for_verifying_verifies_nothing(key: Any) -> None:
    verifier = FakeIssuer(key, *KEYS).verifier()
    secret = b"s" * 32 if isinstance(key, dict) and key.get("kty") == "oct" else None
    forged = hmac_with(secret, {"alg": "HS256", "kid": "bad"}) if secret else signed(key=OTHER, kid="bad")
    assert await verifier.verify_token(forged) is None
    assert await verifier.verify_token(signed()) is not None


@pytest.mark.anyio
async def test_a_weak_key_verifies_nothing() -> None:
    weak = rsa.generate_private_key(65537, 1024)
    verifier = FakeIssuer(jwk_of(weak, "weak"), *KEYS).verifier()
    with pytest.warns(UserWarning, match="1024|length|size"):
        token = signed(key=weak, alg="RS256", kid="weak")
    assert await verifier.verify_token(token) is None


@pytest.mark.anyio
async def test_an_id_that_two_keys_have_stands_for_neither() -> None:
    verifier = FakeIssuer(jwk_of(SIGNING, "k1"), jwk_of(OTHER, "k1")).verifier()
    assert await verifier.verify_token(signed()) is None
    assert await verifier.verify_token(signed(key=OTHER)) is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example", "jwks_uri": f"{ISSUER}/keys"},
        {"jwks_uri": f"{ISSUER}/keys"},
        {"issuer": ISSUER, "jwks_uri": "http://login.example/keys"},
        {"issuer": ISSUER, "jwks_uri": "file:///etc/keys"},
        {"issuer": ISSUER, "jwks_uri": ["https://login.example/keys"]},
        {"issuer": ISSUER},
        {},
    ],
)
async def test_keys_are_not_taken_from_metadata_of_another(metadata: Any) -> None:
    issuer = FakeIssuer(*KEYS)
    issuer.documents[f"{ISSUER}/.well-known/openid-configuration"] = metadata
    issuer.documents["http://login.example/keys"] = issuer.documents[f"{ISSUER}/keys"]
    with pytest.raises(IssuerAway):
        await issuer.verifier().verify_token(signed())


@pytest.mark.anyio
async def test_unknown_keys_do_not_make_it_ask_the_issuer_again_and_again() -> None:
    issuer = FakeIssuer(*KEYS)
    verifier = issuer.verifier()
    assert await verifier.verify_token(signed()) is not None
    asked = len(issuer.read)
    for number in range(50):
        assert await verifier.verify_token(signed(kid=f"unknown-{number}")) is None
    assert len(issuer.read) == asked
    issuer.now += 31
    for number in range(50):
        assert await verifier.verify_token(signed(kid=f"unknown-{number}")) is None
    assert len(issuer.read) - asked <= 3


@pytest.mark.anyio
async def test_a_rotated_key_is_taken_and_a_withdrawn_one_is_not() -> None:
    issuer = FakeIssuer(*KEYS)
    verifier = issuer.verifier()
    assert await verifier.verify_token(signed()) is not None
    issuer.documents[f"{ISSUER}/keys"] = {"keys": [jwk_of(OTHER, "k2")]}
    issuer.now += 31
    assert await verifier.verify_token(signed(key=OTHER, kid="k2")) is not None
    assert await verifier.verify_token(signed()) is None


@pytest.mark.anyio
async def test_an_issuer_that_is_away_lets_nobody_new_in_and_is_not_trusted_for_ever() -> None:
    issuer = FakeIssuer(*KEYS)
    verifier = issuer.verifier()
    documents, issuer.documents = issuer.documents, {}
    with pytest.raises(IssuerAway):
        await verifier.verify_token(signed())
    issuer.documents = documents
    issuer.now += 31
    assert await verifier.verify_token(signed()) is not None
    issuer.documents = {}
    issuer.now += 2 * 3600
    assert await verifier.verify_token(signed()) is not None
    issuer.now += 24 * 3600
    with pytest.raises(IssuerAway):
        await verifier.verify_token(signed())


@pytest.mark.anyio
async def test_over_http_a_scope_is_demanded_and_subjects_are_apart(package: Path) -> None:
    http = HttpSettings(auth="oauth", oauth_issuer=ISSUER, oauth_audience=AUDIENCE, oauth_scopes=("a",))
    access = access_of(http)._replace(verifier=FakeIssuer(*KEYS).verifier())
    async with endpoint(package, http, access=access) as adapter:
        metadata = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
        assert f'resource_metadata="{metadata}"' in (await adapter.send()).headers["www-authenticate"]
        assert (await adapter.send(token=signed(claims_of(scope="b")))).status == 403
        assert (await adapter.send(token=signed(claims_of(scope=None)))).status == 403
        session = await adapter.open(token=signed())
        assert await adapter.ping(session, token=signed(claims_of(jti="renewed"))) == 200
        for changes in ({"sub": "bert"}, {"client_id": "other"}, {"sub": None}):
            assert await adapter.ping(session, token=signed(claims_of(**changes))) == 404


@pytest.mark.anyio
async def test_an_authorization_server_chooses_no_coding() -> None:
    """R-TRUST-4: a kilobyte of a coding can be a gigabyte, and none was asked for."""
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return httpx2.Response(200, content=gzip.compress(b'{"keys": []}'), headers={"Content-Encoding": "gzip"})

    with pytest.raises(Unreachable, match="coding"):
        await Fetch(transport=httpx2.MockTransport(answer)).get("https://issuer.example/keys")
    assert asked[0].headers["accept-encoding"] == "identity"


@pytest.mark.anyio
async def test_an_answer_of_an_authorization_server_is_read_no_further_than_its_bound() -> None:
    """R-TRUST-4"""
    parts: list[bytes] = []

    async def body() -> AsyncIterator[bytes]:
        for _ in range(10):
            parts.append(b" " * 500_000)
            yield parts[-1]

    with pytest.raises(Unreachable, match="too much"):
        await Fetch(transport=httpx2.MockTransport(lambda _: httpx2.Response(200, content=body()))).get(
            "https://issuer.example/keys"
        )
    assert len(parts) == 3
