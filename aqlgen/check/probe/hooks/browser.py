"""A person's browser: it opens an address, whose answer lists the requests that it makes at the redirect from there."""

from __future__ import annotations

import json
import sys
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import parse_qs, quote, urljoin, urlsplit


def _opened(url: str, method: str = "GET") -> HTTPResponse:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc)
    connection.request(method, f"{parts.path}?{parts.query}")
    return connection.getresponse()


if __name__ == "__main__":
    address = sys.argv[1]
    asked = parse_qs(urlsplit(address).query)
    for method, place in json.load(_opened(address)):
        page = _opened(urljoin(asked["redirect_uri"][0], place.replace("{state}", quote(asked["state"][0]))), method)
        sys.stdout.write(f"{page.status} {page.read().decode()}\n")
        sys.stdout.flush()
