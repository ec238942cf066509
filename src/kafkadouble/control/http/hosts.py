"""Under which names the control plane answers: what the Host header may be.

A page of another site can lead a name of its own to this machine (DNS rebinding). A browser then
takes this server for that site, but the Host header still has the name.

Rules. Names of this machine are always allowed, and those that the person who starts the server
gives, as an address or as allowed. With a token these are, too: an address, which no name server
answers for; a name without a dot, such as that of a container; and a name in a domain that is not
part of the public DNS.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address

from kafkadouble.common.errors import UsageError

PRIVATE_DOMAINS = (".internal", ".local", ".localhost", ".test")
"""Reserved for private use (RFC 6761, RFC 6762, ICANN for `internal`): `host.docker.internal`,
`kafka.default.svc.cluster.local`."""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address, or a name."""
    return host == "localhost" or (is_address(host) and ip_address(host.partition("%")[0]).is_loopback)


def is_address(host: str) -> bool:
    """Whether this is an address, and not a name."""
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def is_host_name(text: str) -> bool:
    """Whether this can be a name or an address: it has no port, and no character that no name
    has."""
    return is_address(text) or bool(text.strip(".") and all(each.isalnum() or each in "-_." for each in text))


def check_host_names(texts: Iterable[str]) -> None:
    """Raises UsageError for what is no name."""
    for text in texts:
        if not is_host_name(text):
            raise UsageError(
                f"{text!r} is no host name: give names without a port, such as kafka.example.org, or .example.org for "
                "every name in it"
            )


def name_of(host_header: str) -> str:
    """The name or address in a Host header: without the port, brackets and a last dot, in lower
    case."""
    host, _, port = host_header.rpartition(":")
    name = host_header if is_address(host_header) or not (port.isdecimal() and host) else host
    return name.removeprefix("[").removesuffix("]").removesuffix(".").lower()


class AllowedHosts:
    """The names that are allowed: those that were given, and those by their form. One that begins
    with a dot allows the domain and every name in it."""

    def __init__(self, given: Iterable[str] = (), *, has_token: bool = False) -> None:
        self._given = frozenset(filter(None, map(name_of, given)))
        self._has_token = has_token

    def allows(self, host_header: str) -> bool:
        """Whether a call with this Host header is answered."""
        name = name_of(host_header)
        return is_loopback(name) or self._is_given(name) or (self._has_token and _is_private(name))

    def _is_given(self, name: str) -> bool:
        return name in self._given or any(each[0] == "." and f".{name}".endswith(each) for each in self._given)


def _is_private(name: str) -> bool:
    return "." not in name or is_address(name) or name.endswith(PRIVATE_DOMAINS)
