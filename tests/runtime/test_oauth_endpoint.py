"""OAuth at the HTTP endpoint, with an issuer that answers over HTTP and clients of the SDK."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from aqlgen.runtime.settings.tables import HttpSettings
from tests.runtime.http_endpoint import endpoint
from tests.web import Answer, Asked, serving

AUDIENCE = "http://localhost:8000/mcp"


class Issuer:
    """An authorization server on this machine: its metadata, its keys, and tokens that it signs."""

    def __init__(self, metadata: str) -> None:
        self.keys: dict[str, Any] = {
            "ec": ec.generate_private_key(ec.SECP256R1()),
            "rsa": rsa.generate_private_key(65537, 2048),
        }
        self.read: list[str] = []
        self.metadata = metadata
        self.url = ""

    def answer(self, request: Asked) -> Answer:
        """Answer with the metadata or the keys."""
        self.read.append(request.path)
        documents = {
            self.metadata: {"issuer": self.url, "jwks_uri": f"{self.url}/keys"},
            "/realms/zoo/keys": {"keys": [self.jwk(kid) for kid in self.keys]},
        }
        return Answer(documents.get(request.path, {}), 200 if request.path in documents else 404)

    def jwk(self, kid: str) -> dict[str, Any]:
        """Return a public key as JWK."""
        key = self.keys[kid]
        algorithm = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
        return {**algorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig"}

    def token(self, kid: str = "ec", alg: str = "ES256", **claims: Any) -> str:
        """Sign a token."""
        usual = {"iss": self.url, "aud": AUDIENCE, "sub": "anna", "client_id": "app", "exp": time.time() + 60}
        headers = {"kid": kid, "typ": "at+jwt"}
        return jwt.encode({**usual, "scope": "zoo", **claims}, self.keys[kid], algorithm=alg, headers=headers)


@pytest.fixture(
    params=["/.well-known/oauth-authorization-server/realms/zoo", "/realms/zoo/.well-known/openid-configuration"],
    ids=["RFC 8414", "OpenID Connect"],
)
def issuer(request: pytest.FixtureRequest) -> Iterator[Issuer]:
    issuer = Issuer(request.param)
    with serving(issuer.answer) as local:
        issuer.url = f"{local.url}/realms/zoo"
        yield issuer


@pytest.mark.anyio
async def test_a_client_finds_the_issuer_and_its_token_is_verified_by_the_published_keys(
    issuer: Issuer, package: Path
) -> None:
    """R-TRUST-3"""
    settings = HttpSettings(
        auth="oauth", url=AUDIENCE, oauth_issuer=issuer.url, oauth_audience=AUDIENCE, oauth_scopes=("zoo",)
    )
    async with endpoint(package, settings, address="0.0.0.0") as adapter:
        refusal = await adapter.send()
        assert refusal.status == 401
        match = re.search(r'resource_metadata="http://localhost:8000([^"]+)"', refusal.headers["www-authenticate"])
        assert match
        metadata = (await adapter.send("GET", match[1])).json
        assert metadata["resource"] == AUDIENCE
        assert metadata["authorization_servers"] == [issuer.url]
        assert metadata["scopes_supported"] == ["zoo"]
        assert issuer.read == []

        for token in (issuer.token(), issuer.token("rsa", "RS256"), issuer.token("rsa", "PS512")):
            answer = await adapter.tool("read", "introspect", {"query": "operations"}, token=token)
            assert answer["success"]
            assert len(await adapter.open(token=token)) == 32
        assert len([path for path in issuer.read if path.endswith("/keys")]) == 1
        assert (await adapter.send(token=issuer.token(scope="other"))).status == 403
        assert (await adapter.send(token=issuer.token(aud="http://localhost:9000/mcp"))).status == 401
        assert (await adapter.send(token=issuer.token(exp=time.time() - 60))).status == 401


@pytest.mark.anyio
async def test_an_issuer_that_is_away_is_said_so(package: Path) -> None:
    """The client's token may be good: it is told to try again, not to get another."""
    issuer = Issuer("/")
    with serving(issuer.answer) as local:
        issuer.url = local.url
    settings = HttpSettings(auth="oauth", oauth_issuer=issuer.url, oauth_audience=AUDIENCE)
    async with endpoint(package, settings) as adapter:
        answer = await adapter.send(token=issuer.token())
        assert (answer.status, answer.headers["retry-after"]) == (503, "30")
        assert (await adapter.send()).status == 401
