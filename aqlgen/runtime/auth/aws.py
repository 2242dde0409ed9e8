# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Signed requests to AWS (Signature Version 4), by botocore, which the extra `aws` installs.

The credentials are those of AWS itself: the environment, a profile, or a role. A signature is made over the final
request, with its host: it is of no use anywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from ..errors import Code, Failure
from ..wire import ApiRequest

__all__ = ["advice", "has_credentials", "problem", "signed"]

_HOST = re.compile(
    r"(?:.+\.)?(?P<service>[a-z][a-z0-9-]*)[.-](?P<region>[a-z]{2,4}(?:-[a-z]+)+-\d)\.(?:amazonaws\.com(?:\.cn)?|api\.aws)"
)
_GLOBAL = re.compile(r"(?:.+\.)?(?P<service>[a-z][a-z0-9-]*)\.amazonaws\.com")
_GLOBAL_REGION = "us-east-1"
_SIGNED = re.compile(r"content-type|x-amz-.+", re.IGNORECASE)
_MADE = re.compile(
    r"x-amz-(?:date|algorithm|credential|signature|signedheaders|security-token|content-sha256)", re.IGNORECASE
)


def is_installed() -> bool:
    """Return True if the extra is installed."""
    return find_spec("botocore") is not None


def has_credentials(profile: str | None) -> bool:
    """Return True if requests can be signed."""
    return is_installed() and _session(profile) is not None


def problem(scheme: Mapping[str, Any]) -> str:
    """Return why requests cannot be signed, and what to do."""
    if not is_installed():
        return "the credential cannot be made without botocore: install the adapter with its extra `aws`"
    profile = scheme.get("optional_variables", {}).get("profile", "AWS_PROFILE")
    return f"set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or {profile} to a profile of AWS"


def advice(name: str, scheme: Mapping[str, Any]) -> str:
    """Return how the credential can be supplied, as the end of a sentence."""
    if not is_installed():
        return f"install '{name}-adapter[aws]', with which requests to AWS are signed"
    return problem(scheme)


def signed(
    request: ApiRequest, scheme: Mapping[str, Any], profile: str | None, region: str | None
) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """Return the headers of a request with its signature, and the secrets among them. Raises Failure."""
    session = _session(profile)
    if session is None:
        reason = "the credentials of AWS are not set any more"
        raise Failure(Code.PERMISSION_DENIED, f"Permission denied: {reason}.", {"reason": reason, "missing": []})
    service, region = _scope(request.url, scheme, region or _region(session))
    frozen = session.get_credentials().get_frozen_credentials()
    headers = tuple(header for header in request.headers if not _MADE.fullmatch(header[0]))
    signature = _signature(
        request, [header for header in headers if _SIGNED.fullmatch(header[0])], frozen, service, region
    )
    return (*headers, *signature), [secret for secret in (frozen.secret_key, frozen.token) if secret]


def _signature(
    request: ApiRequest, headers: list[tuple[str, str]], credentials: Any, service: str, region: str
) -> list[tuple[str, str]]:
    """Return the headers that sign a request: Authorization, X-Amz-Date and, if there is one, the session's token."""
    auth, awsrequest = import_module("botocore.auth"), import_module("botocore.awsrequest")
    unsigned = awsrequest.AWSRequest(
        method=request.method, url=request.url, data=request.content or b"", headers=dict(headers)
    )
    signer = auth.S3SigV4Auth if service in ("s3", "s3-outposts") else auth.SigV4Auth
    signer(credentials, service, region).add_auth(unsigned)
    sent = {name.lower() for name, _ in headers}
    return [(name, str(value)) for name, value in unsigned.headers.items() if name.lower() not in sent]


def _scope(url: str, scheme: Mapping[str, Any], region: str | None) -> tuple[str, str]:
    """Return service and region of a signature: those of the host, unless they are set. Raises Failure."""
    host = (urlsplit(url).hostname or "").lower()
    match = _HOST.fullmatch(host)
    if match is not None:
        return str(scheme.get("service") or match["service"]), match["region"]
    world = _GLOBAL.fullmatch(host)
    service = str(scheme.get("service") or (world["service"] if world is not None else ""))
    region = region or (_GLOBAL_REGION if world is not None else None)
    if service and region:
        return service, region
    name = scheme.get("optional_variables", {}).get("region", "AWS_REGION")
    reason = "the region of AWS is not known" if service else "the service of AWS is not known from its address"
    message = f"Permission denied: {reason}. Set {name}." if service else f"Permission denied: {reason}."
    raise Failure(Code.PERMISSION_DENIED, message, {"reason": reason, "missing": [name] if service else []})


def _region(session: Any) -> str | None:
    region = session.get_config_variable("region")
    return str(region) if region else None


@lru_cache(maxsize=8)
def _known_session(profile: str | None) -> Any:
    return import_module("botocore.session").Session(profile=profile)


def _session(profile: str | None) -> Any:
    """Return the session of a profile, None if AWS has no credentials for it."""
    session = _known_session(profile)
    try:
        return session if session.get_credentials() is not None else None
    except import_module("botocore.exceptions").BotoCoreError:
        return None
