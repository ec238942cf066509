"""One Apache Kafka with six listeners: plain, SASL, TLS, both, TLS with client certificates, and
SASL with tokens.

Users: alice (PLAIN), who has no rights, admin (PLAIN) and bob (SCRAM), each with the password
NAME-secret; and admin with any unsigned token. The keys are those of the client's own tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from interop.controllers.kinds import KAFKA
from interop.one_node import MODULES, addresses_of, one_node
from interop.quorum import CLIENTS, CONTROLLER

KEYS = Path(__file__).parents[2] / "tests" / "pipeline" / "client" / "keys"
PROTOCOLS = {
    CLIENTS: "PLAINTEXT",
    CONTROLLER: "PLAINTEXT",
    "SASL": "SASL_PLAINTEXT",
    "TLS": "SSL",
    "BOTH": "SASL_SSL",
    "MUTUAL": "SSL",
    "TOKEN": "SASL_PLAINTEXT",
}
"""The listeners, and the security protocol of each."""

PLAIN = f'{MODULES}.plain.PlainLoginModule required user_alice="alice-secret" user_admin="admin-secret";'
SCRAM = f"{MODULES}.scram.ScramLoginModule required;"
TOKEN = f'{MODULES}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="admin";'
UNSIGNED = f"{MODULES}.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"

OWNER = "CN=client of kafkadouble's tests"
"""The subject of the client's certificate."""

SETTINGS: Mapping[str, object] = {
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    **{f"listener.name.{name}.plain.sasl.jaas.config": PLAIN for name in ("sasl", "both")},
    **{
        f"listener.name.{name}.scram-sha-{bits}.sasl.jaas.config": SCRAM
        for name in ("sasl", "both")
        for bits in (256, 512)
    },
    "listener.name.token.sasl.enabled.mechanisms": "OAUTHBEARER",
    "listener.name.token.oauthbearer.sasl.jaas.config": TOKEN,
    "listener.name.token.oauthbearer.sasl.server.callback.handler.class": UNSIGNED,
    "listener.name.sasl.connections.max.reauth.ms": 2000,
    "ssl.keystore.type": "PEM",
    "ssl.keystore.location": KEYS / "server.pem",
    "ssl.truststore.type": "PEM",
    "ssl.truststore.location": KEYS / "client.pem",
    "listener.name.mutual.ssl.client.auth": "required",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": f"User:ANONYMOUS;User:admin;User:bob;User:{OWNER}",
}

USERS = [f"SCRAM-SHA-{bits}=[name=bob,password=bob-secret]" for bits in (256, 512)]

_TRUST = {"ssl.truststore.location": KEYS / "server.pem", "ssl.truststore.type": "PEM"}
_OWN = {"ssl.keystore.location": KEYS / "client.pem", "ssl.keystore.type": "PEM"}
_ADMIN = {
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": f'{MODULES}.plain.PlainLoginModule required username="admin" password="admin-secret";',
}
_BOB = {"sasl.jaas.config": f'{MODULES}.scram.ScramLoginModule required username="bob" password="bob-secret";'}

WAYS: dict[str, tuple[str, Mapping[str, object]]] = {
    "plain": ("PLAINTEXT", {}),
    "SASL PLAIN": ("SASL", {"security.protocol": "SASL_PLAINTEXT", **_ADMIN}),
    "SCRAM-SHA-256": ("SASL", {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-256", **_BOB}),
    "SCRAM-SHA-512": ("SASL", {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512", **_BOB}),
    "TLS": ("TLS", {"security.protocol": "SSL", **_TRUST}),
    "SASL over TLS": ("BOTH", {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", **_BOB, **_TRUST}),
    "a certificate": ("MUTUAL", {"security.protocol": "SSL", **_TRUST, **_OWN}),
    "a locked key": (
        "MUTUAL",
        {
            "security.protocol": "SSL",
            **_TRUST,
            **_OWN,
            "ssl.keystore.location": KEYS / "locked.pem",
            "ssl.key.password": "changeit",
        },
    ),
    "a token": (
        "TOKEN",
        {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": TOKEN},
    ),
}
"""Ways to authenticate: the listener, and the settings by their Kafka names, which our clients and
Java's share."""


@contextmanager
def secure_node(folder: Path) -> Iterator[Mapping[str, str]]:
    """The addresses of the running node, by listener. Raises Missing."""
    with one_node(KAFKA, folder, PROTOCOLS, SETTINGS, USERS) as node:
        yield addresses_of(node)
