"""A broker in its own process with a port of every kind."""

from __future__ import annotations

from functools import cache

from kafkadouble.access.certificates import Certificates

from .sockets import Broker

PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL = "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"
LISTENERS = (PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL)
TOKEN = "of-the-owner"
CONTROLLER, HTTP = "CONTROLLER", "HTTP"
PORTS = (*LISTENERS, CONTROLLER, HTTP)

LINES = {
    "controller.quorum.bootstrap.servers": CONTROLLER,
    "control.url": HTTP,
    **{f"listener.name.{name.lower()}.bootstrap.servers": name for name in LISTENERS},
}
"""What the broker prints, and the port that it is about."""


@cache
def _certificates() -> Certificates:
    return Certificates()


def every_port() -> tuple[str, ...]:
    """The options of the command line."""
    pair, file = _certificates().of_brokers(), _certificates().directory / "broker.pem"
    file.write_text(pair.key + pair.certificate)
    settings = {
        "listeners": ",".join(f"{name}://127.0.0.1:0" for name in LISTENERS),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(file),
        "sasl.enabled.mechanisms": "PLAIN",
    }
    given = (word for name, value in settings.items() for word in ("-c", f"{name}={value}"))
    return (*given, "--user", "alice:secret", "--controller-port", "0", "--control-port", "0", "--control-token", TOKEN)


def addresses(broker: Broker) -> dict[str, tuple[str, int]]:
    """Host and port of every port, of a broker that has them all."""
    found = {PLAINTEXT: broker.address}
    assert broker.process.stdout is not None
    for line in broker.process.stdout:
        name, _, place = line.strip().partition("=")
        if name in LINES:
            host, _, port = place.removeprefix("http://").rpartition(":")
            found[LINES[name]] = (host, int(port))
        if len(found) == len(PORTS):
            break
    return found
