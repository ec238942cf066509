"""Guards the control plane. Pages of other sites may not, neither by requests that a browser
sends for them (CSRF) nor under a name that leads to this machine (DNS rebinding).

Rules. Without a token, the server listens only on loopback addresses. With a token, each call has
it: `Authorization: Bearer TOKEN`. In both cases the Host header must be allowed (`hosts.py`), and a
browser's call must come from the server's own page.
"""

from __future__ import annotations

from collections.abc import Mapping
from hmac import compare_digest
from typing import NamedTuple

from .hosts import AllowedHosts
from .problems import ControlProblem

SAME_SITE = ("same-origin", "none")
"""Values of Sec-Fetch-Site: a call of the own page, and one of the person at the browser."""

OPEN_PATHS = ("/health", "/ready", "/oauth/token", "/oauth/keys")
"""What is answered without a token, for probes, and for clients that want a bearer token."""


class Guard(NamedTuple):
    """The check of each call, with the token if there is one, and the allowed hosts."""

    token: str | None = None
    hosts: AllowedHosts = AllowedHosts()

    def check(self, path: str, headers: Mapping[str, str], *, is_page: bool = False) -> None:
        """Raises ControlProblem for a call that is not allowed. The names of the headers are in
        lower case. A file of the page (`is_page`) may be opened by a link on another site, and
        needs no token."""
        if not is_page:
            origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
            own = origin is None or origin.partition("://")[2] == headers.get("host")
            if not own or site not in SAME_SITE:
                raise ControlProblem(403, "forbidden", f"a page of {origin or 'another site'} may not call this server")
        if not self.hosts.allows(headers.get("host", "")):
            raise _unknown_host(headers.get("host", ""))
        if self.token is not None and path not in OPEN_PATHS and not is_page:
            _check_token(self.token, headers.get("authorization", ""))


def _unknown_host(host: str) -> ControlProblem:
    return ControlProblem(
        403,
        "forbidden",
        f"the Host header is {host!r}: the server does not know that this is its name; "
        "`kafkadouble serve --control-allowed-hosts NAME` allows it",
    )


def _check_token(token: str, authorization: str) -> None:
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() != "bearer" or not compare_digest(given.strip().encode(), token.encode()):
        raise ControlProblem(401, "unauthorized", "the token is missing or wrong: send `Authorization: Bearer TOKEN`")
