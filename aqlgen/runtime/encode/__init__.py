"""From validated parameters to the request that is sent.

Names by which a request is framed and routed are the adapter's own, and never a parameter or a credential.
A header among them ends the request elsewhere, hides another in it, or names another host, address or method to a proxy
or framework (RFC 9110, 7 and 10.1; RFC 9112, 6; RFC 7239; the Fetch standard's forbidden request-headers). A
Content-Encoding would be untrue, since bodies are sent as they are. Servers may read `_` in a name as `-`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import Code, Failure, invalid

_FRAMING = frozenset(
    (
        *("connection", "content-encoding", "content-length", "expect", "host", "http2-settings", "keep-alive"),
        *("te", "trailer", "trailers", "transfer-encoding", "upgrade"),
        *("forwarded", "max-forwards", "proxy", "via", "x-forward-for", "x-forwarded", "x-forwarder-for"),
        *("x-host", "x-http-host-override", "x-backend-host", "x-original-host", "x-original-remote-addr"),
        *("x-original-forwarded-for", "x-original-method", "x-original-path", "x-original-query", "x-original-uri"),
        *("x-original-url", "x-override-url", "x-rewrite-uri", "x-rewrite-url", "x-script-name"),
        *("cf-connecting-ip", "cf-connecting-ipv6", "cf-ipcountry", "cf-pseudo-ipv4", "cf-visitor", "client-ip"),
        *("fastly-client-ip", "true-client-ip", "x-azure-clientip", "x-azure-socketip", "x-client-ip"),
        *("x-cluster-client-ip", "x-originating-ip", "x-proxyuser-ip", "x-real-ip", "x-remote-addr", "x-remote-ip"),
    )
)
_FRAMING_PREFIXES = ("proxy-", "sec-", "x-envoy-", "x-forwarded-")
_OVERRIDES = frozenset(
    (
        *("x-http-method-override", "x-http-method", "x-method-override", "x-http-override"),
        *("http-method-override", "-method", "-httpmethod", "$httpmethod", "$-httpmethod", "$httpheaders"),
    )
)
"""Names of headers and of fields in queries and bodies, that put another method, or other headers, in place."""
_AS_HYPHENS = str.maketrans("_. [", "----")
_PART_HEADERS = frozenset({"content-disposition", "content-transfer-encoding", "content-type"})


def is_framing(name: str, *, of_part: bool = False) -> bool:
    """Return True if a header frames or routes a request, or a part of a multipart body."""
    folded = name.strip().lower().replace("_", "-")
    if of_part and folded in _PART_HEADERS:
        return True
    return folded in _FRAMING or folded.startswith(_FRAMING_PREFIXES) or folded in _OVERRIDES


def folded(name: str) -> str:
    """Return the form that names of headers, fields and cookies share which a server may read as one.

    PHP reads `.`, blanks and an open bracket in a name as `_`, and `name[]` as a list of that name.
    """
    name = name.strip().lower()
    return (name[:1] + name[1:].partition("[")[0]).translate(_AS_HYPHENS)


def overrides_method(name: str) -> bool:
    """Return True if a field of a query or a body is read as the method of its request."""
    return folded(name) in _OVERRIDES


def check_header(name: str) -> None:
    """Raise Failure if a header of the table or of a credential frames requests or has no valid name."""
    if is_framing(name) or not name.isascii() or not name.isprintable() or " " in name or ":" in name:
        message = f"Internal error: the operation table names the header {name!r}, which only the adapter may set"
        raise Failure(Code.INTERNAL_ERROR, message, {"header": name})


def check_names(names: Iterable[str], parameter: str) -> None:
    """Raise Failure if a field of a parameter's value is read as the method of its request."""
    for name in names:
        if overrides_method(str(name)):
            message = f"Parameter '{parameter}' must not hold '{name}': APIs read it as another method"
            raise invalid(parameter, message)
