"""The live page: its files, which are part of the package, and nothing else.

Rules. A path is looked up in the table, so that no other file can be read. The page loads nothing
from other servers, and no other page can show it in a frame. The files need no token: the calls
that the page makes do.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Asset(NamedTuple):
    """A file of the page."""

    path: str
    file: str
    media_type: str


SCRIPTS = ("main", "api", "elements", "forms", "requests", "store", "views")

ASSETS = (
    Asset("/", "index.html", "text/html"),
    Asset("/page/style.css", "style.css", "text/css"),
    *(Asset(f"/page/{name}.js", f"{name}.js", "text/javascript") for name in SCRIPTS),
)

PAGE_HEADERS = {
    "cache-control": "no-cache",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    ),
}


@cache
def contents(asset: Asset) -> bytes:
    """The bytes of the file."""
    return files(__package__).joinpath("page", asset.file).read_bytes()
