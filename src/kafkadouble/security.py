"""`KafkaDouble(security=..., users=...)` and `kafkadouble serve --security`: the settings of
brokers whose clients need TLS, or log in by SASL, or both.

    SSL              certificates that are made for this run
    SASL_PLAINTEXT   the users log in, without TLS
    SASL_SSL         both

Rules. It only makes settings of Kafka, which those of the user override. With SSL, clients may show
the certificate of a user, and need none; its principal is `User:` and the common name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kafkadouble.server.requests.listener_spec import PROTOCOLS, WITH_SASL, WITH_TLS

from .errors import UsageError

if TYPE_CHECKING:
    from .certificates import Certificates

SECURE = PROTOCOLS[1:]
LOCAL = ("localhost", "127.0.0.1", "::1")
CLIENT = "client"
KEY, CHAIN = "ssl.keystore.key", "ssl.keystore.certificate.chain"
EVERY_ADDRESS = ("", "0.0.0.0", "::")
BY_COMMON_NAME = r"RULE:^(?:.*,)?CN=((?:[^,\\]|\\.)*)(?:,.*)?$/$1/,DEFAULT"
"""The principal of a certificate is its common name."""


class Security:
    """The security of the brokers of a double. UsageError for another protocol than those of
    `SECURE`, for users that it cannot have, and with TLS without the extra
    `kafkadouble[security]`."""

    def __init__(
        self,
        protocol: str | None,
        users: Mapping[str, str] | None = None,
        certificate: str | None = None,
        hosts: Iterable[str] = (),
    ) -> None:
        self.protocol = checked_protocol(protocol, users, certificate)
        self.users: Mapping[str, str] = {}
        self.listeners: Sequence[str] = ()
        """The names of the listeners that have these settings."""
        self.certificates: Certificates | None = None
        if self.protocol in WITH_SASL:
            from .users import checked_users

            self.users = checked_users(users)
        self._first_users = self.users
        if self.protocol in WITH_TLS:
            from .certificates import Certificates

            named = [host for host in hosts if host not in EVERY_ADDRESS]
            self.certificates = Certificates(certificate or "valid", [*LOCAL, *named])

    def only_listener(self, host: str, port: int) -> dict[str, object]:
        """Kafka's settings for brokers with one listener, which has the name of its protocol."""
        bracketed = f"[{host}]" if ":" in host else host
        return {
            "listeners": f"{self.protocol}://{bracketed}:{port}",
            "security.inter.broker.protocol": self.protocol,
            **self.config([self.protocol]),
        }

    def config(self, names: Sequence[str]) -> dict[str, object]:
        """Kafka's settings for listeners of brokers with these names."""
        self.listeners = names
        found: dict[str, object] = {
            "listener.security.protocol.map": ",".join(
                [*(f"{name}:{self.protocol}" for name in names), "CONTROLLER:PLAINTEXT"]
            )
        }
        if self.certificates is not None:
            found |= self._of_tls(self.certificates)
        if self.users:
            from .users import sasl_settings

            found |= sasl_settings(names, self.users)
        return found

    def _of_tls(self, certificates: Certificates) -> dict[str, object]:
        pair = certificates.of_brokers()
        return {
            "ssl.keystore.type": "PEM",
            KEY: pair.key,
            CHAIN: pair.certificate,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": certificates.authority,
            "ssl.allow.san.changes": True,  # `set_certificate` changes them
            "ssl.client.auth": "none" if self.users else "requested",
            "ssl.principal.mapping.rules": BY_COMMON_NAME,
        }

    @property
    def has_sasl(self) -> bool:
        """Whether users log in."""
        return self.protocol in WITH_SASL

    def begin(self) -> None:
        """Have the users of the start."""
        self.users = self._first_users

    def login_config(self) -> dict[str, str]:
        """Kafka's settings with the users of now, for brokers that run."""
        from .users import plain_logins

        return plain_logins(self.listeners, self.users, next(iter(self._first_users.items())))

    def certificate_config(self, kind: str) -> dict[str, str]:
        """Kafka's settings with a new certificate, for brokers that run."""
        assert self.certificates is not None
        pair = self.certificates.of_brokers(kind)
        found: dict[str, str] = {}
        for prefix in map(_prefix, self.listeners):
            found |= {f"{prefix}{KEY}": pair.key, f"{prefix}{CHAIN}": pair.certificate}
        return found

    @property
    def changeable(self) -> set[str]:
        """The names of the settings that change while brokers run."""
        suffixes = (KEY, CHAIN, "plain.sasl.jaas.config")
        return {f"{prefix}{suffix}" for prefix in map(_prefix, self.listeners) for suffix in suffixes}

    def files(self) -> dict[str, str]:
        """The files for clients, by Kafka's settings: the authority that they trust, and with SSL
        the certificate of a user `client`."""
        if self.certificates is None:
            return {}
        found = {"ssl.truststore.location": str(self.certificates.authority_file)}
        if not self.has_sasl:
            found["ssl.keystore.location"] = str(self.certificates.of_user(CLIENT))
        return found

    def close(self) -> None:
        """Remove the files of the certificates."""
        if self.certificates is not None:
            self.certificates.close()

    def __repr__(self) -> str:
        parts = [
            *([repr(self.certificates)] if self.certificates else []),
            *([", ".join(self.users)] if self.users else []),
        ]
        return f"{self.protocol} with {' and '.join(parts)}"


def _prefix(listener: str) -> str:
    return f"listener.name.{listener.lower()}."


def checked_protocol(protocol: str | None, users: object, certificate: str | None) -> str:
    """The protocol, if there are users only with SASL, and a certificate only with TLS."""
    if protocol is not None and protocol not in SECURE:
        raise UsageError(f"security is {protocol!r}: there are {', '.join(SECURE)}")
    if users is not None and protocol not in WITH_SASL:
        raise UsageError(f"users need security={' or '.join(map(repr, WITH_SASL))}, not {protocol!r}")
    if protocol is None or (certificate is not None and protocol not in WITH_TLS):
        raise UsageError(f"certificate needs security={' or '.join(map(repr, WITH_TLS))}, not {protocol!r}")
    return protocol
