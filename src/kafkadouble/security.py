"""`KafkaDouble(security=...)` and `kafkadouble serve --security`: the settings of brokers whose
clients need TLS, with certificates that are made for this run.

Rules. It only makes settings of Kafka, which those of the user override. Clients may show the
certificate of a user, and need none; its principal is `User:` and the common name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .certificates import Certificates
from .errors import UsageError
from .node_listeners import SERVED_PROTOCOLS

LOCAL = ("localhost", "127.0.0.1", "::1")
CLIENT = "client"
EVERY_ADDRESS = ("", "0.0.0.0", "::")
BY_COMMON_NAME = r"RULE:^(?:.*,)?CN=((?:[^,\\]|\\.)*)(?:,.*)?$/$1/,DEFAULT"
"""The principal of a certificate is its common name."""


class Security:
    """The security of the brokers of a double. UsageError for another protocol than those served,
    and without the extra `kafkadouble[security]`."""

    def __init__(self, protocol: str, certificate: str = "valid", hosts: Iterable[str] = ()) -> None:
        if protocol not in SERVED_PROTOCOLS[1:]:
            raise UsageError(f"security is {protocol!r}: there is {', '.join(SERVED_PROTOCOLS[1:])}")
        self.protocol = protocol
        named = [host for host in hosts if host not in EVERY_ADDRESS]
        self.certificates = Certificates(certificate, [*LOCAL, *named])

    def listeners(self, host: str, port: int) -> dict[str, object]:
        """Kafka's settings for one listener, which has the name of its protocol."""
        bracketed = f"[{host}]" if ":" in host else host
        return {
            "listeners": f"{self.protocol}://{bracketed}:{port}",
            **self.protocols([self.protocol]),
            "security.inter.broker.protocol": self.protocol,
        }

    def protocols(self, names: Sequence[str]) -> dict[str, object]:
        """Kafka's setting for the protocol of these listeners of brokers."""
        pairs = [f"{name}:{self.protocol}" for name in names]
        return {"listener.security.protocol.map": ",".join([*pairs, "CONTROLLER:PLAINTEXT"])}

    def config(self) -> dict[str, object]:
        """Kafka's settings for the certificates."""
        pair = self.certificates.of_brokers()
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": pair.key,
            "ssl.keystore.certificate.chain": pair.certificate,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": self.certificates.authority,
            "ssl.client.auth": "requested",
            "ssl.principal.mapping.rules": BY_COMMON_NAME,
        }

    def files(self) -> dict[str, str]:
        """The files for clients, by Kafka's settings: the authority that they trust, and the
        certificate of a user `client`."""
        return {
            "ssl.truststore.location": str(self.certificates.authority_file),
            "ssl.keystore.location": str(self.certificates.of_user(CLIENT)),
        }

    def close(self) -> None:
        """Remove the files of the certificates."""
        self.certificates.close()

    def __repr__(self) -> str:
        return f"{self.protocol} with {self.certificates!r}"
