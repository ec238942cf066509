"""Who may call the control plane. Pages of other sites may not, neither by requests that a browser
sends for them (CSRF) nor under a name that leads to this machine (DNS rebinding).

Rules. Without a token, the server listens only on loopback addresses, and the Host header must name
one. With a token, each call has it: `Authorization: Bearer TOKEN`. In both cases a browser's call
must come from the server's own page.
"""

from __future__ import annotations

from collections.abc import Mapping
from hmac import compare_digest
from ipaddress import ip_address
from typing import NamedTuple

from .problems import ControlProblem

SAME_SITE = ("same-origin", "none")
"""Values of Sec-Fetch-Site: a call of the own page, and one of the person at the browser."""

OPEN_PATHS = ("/health", "/ready")
"""What is answered without a token, for probes."""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address, or a name."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


class Guard(NamedTuple):
    """The check of each call, with the token if there is one."""

    token: str | None = None

    def check(self, path: str, headers: Mapping[str, str], *, is_page: bool = False) -> None:
        """Raises ControlProblem for a call that is not allowed. The names of the headers are in
        lower case. A file of the page (`is_page`) may be opened by a link on another site, and
        needs no token."""
        if not is_page:
            _check_site(headers)
        if self.token is None:
            _check_host(headers.get("host", ""))
        elif path not in OPEN_PATHS and not is_page:
            _check_token(self.token, headers.get("authorization", ""))


def _check_site(headers: Mapping[str, str]) -> None:
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
    own = origin is None or origin.partition("://")[2] == headers.get("host")
    if not own or site not in SAME_SITE:
        raise ControlProblem(403, "forbidden", f"a page of {origin or 'another site'} may not call this server")


def _check_host(host: str) -> None:
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    if not is_loopback(name.removeprefix("[").removesuffix("]")):
        raise ControlProblem(
            403, "forbidden", f"the Host header is {host!r}: without a token, the server answers only localhost"
        )


def _check_token(token: str, authorization: str) -> None:
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() != "bearer" or not compare_digest(given.strip().encode(), token.encode()):
        raise ControlProblem(401, "unauthorized", "the token is missing or wrong: send `Authorization: Bearer TOKEN`")
