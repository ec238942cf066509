"""`KafkaDouble(security=..., users=..., oauthbearer=...)` and `kafkadouble serve --security`: the
settings of brokers whose clients need TLS, or log in by SASL, or both.

    SSL              certificates that are made for this run
    SASL_PLAINTEXT   the users log in, or clients with a bearer token, without TLS
    SASL_SSL         both

Rules. It only makes settings of Kafka, which those of the user override: `setting_sources.py` has
the order. Users log in on each listener with SASL, and each with TLS shows the certificate, whether
`security` or the settings give it its protocol. With SSL, clients may show the certificate of a
user, and need none; its principal is `User:` and the common name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from kafkadouble.common.errors import UsageError
from kafkadouble.server.configs.listener_settings import prefix_of
from kafkadouble.server.requests.listener_spec import PROTOCOLS, WITH_SASL, WITH_TLS

from .bearer_tokens import BearerTokens
from .certificates import Certificates
from .users import checked_users, plain_logins, sasl_settings

if TYPE_CHECKING:
    from kafkadouble.common.literals import TokenKind
    from kafkadouble.server.security.sasl.oauth_bearer import TokenCheck

    from .certificates import Certificates, KeyPair

SECURE = PROTOCOLS[1:]
LOCAL = ("localhost", "127.0.0.1", "::1")
CLIENT = "client"
KEY, CHAIN = "ssl.keystore.key", "ssl.keystore.certificate.chain"
KEY_STORE = "ssl.keystore.location"
EVERY_ADDRESS = ("", "0.0.0.0", "::")
BY_COMMON_NAME = r"RULE:^(?:.*,)?CN=((?:[^,\\]|\\.)*)(?:,.*)?$/$1/,DEFAULT"
"""The principal of a certificate is its common name."""


class Security:
    """The security of the brokers of a double. `protocols`: of each listener for clients, by its
    name. `given`: the names of settings that are set, and win; a listener with a key store of its
    own shows no certificate of the double.

    UsageError for users, tokens and certificates that no listener can use, and for certificates
    without the extra `kafkadouble[security]`.
    """

    def __init__(
        self,
        protocols: Mapping[str, str],
        users: Mapping[str, str] | None = None,
        certificate: str | None = None,
        hosts: Iterable[str] = (),
        given: Collection[str] = (),
        oauthbearer: TokenKind | TokenCheck | None = None,
    ) -> None:
        check_words(protocols.values(), users, certificate, oauthbearer)
        self.with_sasl = [name for name, protocol in protocols.items() if protocol in WITH_SASL]
        """The listeners on which users log in."""
        with_tls = [name for name, protocol in protocols.items() if protocol in WITH_TLS]
        self.with_certificate = [name for name in with_tls if not _has_key_store(name, given)]
        """The listeners that show the certificate of the double."""
        self._has_tls_alone = any(protocols[name] == "SSL" for name in self.with_certificate)
        if certificate is not None and not self.with_certificate:
            raise UsageError(f"certificate: {', '.join(with_tls)} shows the certificate of its settings")
        self.users: Mapping[str, str] = {}
        if users is not None:
            self.users = checked_users(users)
        self._first_users = self.users
        self.tokens: BearerTokens | None = None
        """The bearer tokens with which clients log in."""
        if oauthbearer is not None:
            self.tokens = BearerTokens(oauthbearer)
        self._given = given
        self.certificates: Certificates | None = None
        if self.with_certificate:
            named = [host for host in hosts if host not in EVERY_ADDRESS]
            self.certificates = Certificates(certificate or "valid", [*LOCAL, *named])

    def config(self) -> dict[str, object]:
        """Kafka's settings for these listeners."""
        found = {} if self.certificates is None else self._of_tls(self.certificates)
        if self.users or self.tokens is not None:
            found |= sasl_settings(self.with_sasl, self.users, self.tokens)
        return found

    def _of_tls(self, certificates: Certificates) -> dict[str, object]:
        found: dict[str, object] = {
            **{f"{prefix_of(name)}ssl.keystore.type": "PEM" for name in self.with_certificate},
            **self._shown(certificates.of_brokers()),
            "ssl.allow.san.changes": True,  # `set_certificate` changes them
            "ssl.client.auth": "requested",
            "ssl.principal.mapping.rules": BY_COMMON_NAME,
        }
        if "ssl.truststore.location" not in self._given:
            found |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": certificates.authority}
        return found

    @property
    def token_check(self) -> TokenCheck | None:
        """The function with which brokers check bearer tokens, if one does."""
        return None if self.tokens is None else self.tokens.check

    @property
    def has_sasl(self) -> bool:
        """Whether users log in."""
        return bool(self._first_users)

    def begin(self) -> None:
        """Restores the users of the start."""
        self.users = self._first_users

    def login_config(self) -> dict[str, str]:
        """Kafka's settings with the users of now, for brokers that run."""
        return plain_logins(self.with_sasl, self.users, next(iter(self._first_users.items())))

    def certificate_config(self, kind: str) -> dict[str, str]:
        """Kafka's settings with a new certificate, for brokers that run."""
        assert self.certificates is not None
        return self._shown(self.certificates.of_brokers(kind))

    def _shown(self, pair: KeyPair) -> dict[str, str]:
        found: dict[str, str] = {}
        for prefix in map(prefix_of, self.with_certificate):
            found |= {f"{prefix}{KEY}": pair.key, f"{prefix}{CHAIN}": pair.certificate}
        return found

    @property
    def changeable(self) -> set[str]:
        """The names of the settings that change while brokers run."""
        logins = {f"{prefix_of(name)}plain.sasl.jaas.config" for name in self.with_sasl}
        return logins | {f"{prefix_of(name)}{suffix}" for name in self.with_certificate for suffix in (KEY, CHAIN)}

    def files(self) -> dict[str, str]:
        """The files for clients, by Kafka's settings: the authority that they trust, and with SSL
        the certificate of a user `client`."""
        if self.certificates is None:
            return {}
        found = {"ssl.truststore.location": str(self.certificates.authority_file)}
        if self._has_tls_alone:
            found["ssl.keystore.location"] = str(self.certificates.of_user(CLIENT))
        return found

    def close(self) -> None:
        """Removes the files of the certificates and of the keys."""
        for each in (self.certificates, self.tokens):
            if each is not None:
                each.close()

    def __repr__(self) -> str:
        parts = [
            *([repr(self.certificates)] if self.certificates else []),
            *([", ".join(self.users)] if self.users else []),
            *([repr(self.tokens)] if self.tokens else []),
        ]
        return f"security with {' and '.join(parts)}"


def _has_key_store(listener: str, given: Collection[str]) -> bool:
    """Whether the settings say what a listener shows."""
    return any(f"{prefix}{name}" in given for prefix in ("", prefix_of(listener)) for name in (KEY, KEY_STORE))


def checked_protocol(protocol: str) -> str:
    """UsageError for one that is not of `SECURE`."""
    if protocol not in SECURE:
        raise UsageError(f"security is {protocol!r}: there are {', '.join(SECURE)}")
    return protocol


def check_words(protocols: Iterable[str], users: object, certificate: object, oauthbearer: object = None) -> None:
    """UsageError for users and bearer tokens where no listener has SASL, and for a certificate
    where none has TLS."""
    there = dict.fromkeys(protocols)
    for words, given, needed in (
        ("users need", users, WITH_SASL),
        ("oauthbearer needs", oauthbearer, WITH_SASL),
        ("certificate needs", certificate, WITH_TLS),
    ):
        if given is not None and not there.keys() & {*needed}:
            raise UsageError(f"{words} security={' or '.join(map(repr, needed))}, not {', '.join(map(repr, there))}")
