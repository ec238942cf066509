"""The programs that log in: `programs/*/secure*`, a program for each language that runs several
clients; the attempts that each makes on a secured broker, and what must come of them.

Rules. A program reads attempts from its input and writes an object for each:

    BOOTSTRAP PROTOCOL MECHANISM USER SECRET AUTHORITY CERTIFICATE TOPIC RECORDS SIZE  (with tabs)
    {"error": NAME or "", "seconds": ..., "throttle_ms": ... or -1, "about": ...}

An attempt is a new producer that sends RECORDS records of SIZE bytes, each when the one before is
acknowledged. SECRET is a password, or a token of OAUTHBEARER. `error` is the name that the library
itself gives to the first error, and `throttle_ms` the longest throttle time that it reports; -1 if
it reports none.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from interop.secured_servers import (
    MUTUAL,
    OAUTHBEARER,
    PASSWORDS,
    PRIVATE,
    PROTOCOLS,
    RATE,
    SASL,
    SECURE,
    Secured,
    password_of,
)
from kafkadouble.server.security.sasl import oauth_bearer

from .run import HOUSE
from .toolchains import c, go, java, js, python, rust
from .toolchains.building import Toolchain, binary, built

EVERY = (*PASSWORDS, OAUTHBEARER)
WRONG, WAITS = "wrong", "waits"
RECORDS = 13
"""Of RATE bytes each, which is too much: a broker measures over at most eleven seconds."""
AT_LEAST_S = 1.0
PATIENCE_S = 300


class SecureProgram(NamedTuple):
    """One client. `refused` and `denied` are its own names of a failed login, and of a topic that
    an ACL denies; `refused_token` that of an expired token, if it is another name. WAITS: it does
    not notice. `reports_throttling`: it tells its users of throttle times. `has_tls`: it takes
    certificates in PEM. `is_long`: it is run with the long tests only."""

    name: str
    toolchain: Toolchain
    command: Callable[[Path], Sequence[str]]
    refused: str
    denied: str
    mechanisms: tuple[str, ...] = EVERY
    refused_token: str = ""
    reports_throttling: bool = True
    has_tls: bool = True
    is_long: bool = False

    def refused_by(self, mechanism: str) -> str:
        """Its name of a failed login by a mechanism."""
        return self.refused_token or self.refused if mechanism == OAUTHBEARER else self.refused


class Cell(NamedTuple):
    """One attempt: its name, its line, the expected error, and whether a quota slows it down."""

    name: str
    line: str
    error: str
    is_slow: bool = False


class Ended(NamedTuple):
    """What came of an attempt."""

    error: str
    seconds: float
    throttle_ms: float
    about: str


def cells(program: SecureProgram, server: Secured, slow_user: str) -> Iterator[Cell]:
    """Every attempt of a program."""
    listeners = (SASL, SECURE) if program.has_tls else (SASL,)
    for listener in listeners:
        for mechanism in program.mechanisms:
            yield Cell(f"{mechanism} {PROTOCOLS[listener]}", _line(server, listener, mechanism, "alice"), "")
    if program.has_tls:
        yield Cell("certificate SSL", _line(server, MUTUAL, "", "alice"), "")
    for mechanism in program.mechanisms:
        if program.refused_by(mechanism) != WAITS:
            line = _line(server, listeners[-1], mechanism, "alice", secret=WRONG)
            yield Cell(f"wrong {mechanism}", line, program.refused_by(mechanism))
    first = program.mechanisms[0]
    yield Cell("denied", _line(server, listeners[-1], first, "alice", topic=PRIVATE), program.denied)
    yield Cell("throttled", _line(server, listeners[-1], first, slow_user, count=RECORDS, size=RATE), "", is_slow=True)


def _line(
    server: Secured,
    listener: str,
    mechanism: str,
    user: str,
    *,
    secret: str = "",
    topic: str = "",
    count: int = 1,
    size: int = 10,
) -> str:
    protocol = PROTOCOLS[listener]
    has_tls = protocol.endswith("SSL")
    certificate = str(server.certificates.of_user(user)) if listener == MUTUAL else ""
    fields = [
        server.addresses[listener],
        protocol,
        mechanism,
        user,
        _secret(mechanism, user, secret),
        str(server.certificates.authority_file) if has_tls else "",
        certificate,
        topic or user,
        str(count),
        str(size),
    ]
    return "\t".join(fields)


def _secret(mechanism: str, user: str, secret: str) -> str:
    if mechanism != OAUTHBEARER:
        return secret or password_of(user)
    began = int(time.time()) - (7200 if secret == WRONG else 0)
    return oauth_bearer.unsecured_token({"sub": user}, began, 3600)


def played(program: SecureProgram, lines: Sequence[str]) -> list[Ended]:
    """What came of each attempt. Raises Missing where the program cannot be built here."""
    done = subprocess.run(
        program.command(built(program.toolchain)),
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        cwd=HOUSE,
        timeout=PATIENCE_S,
        check=False,
    )
    endeds = [Ended(**json.loads(line)) for line in done.stdout.splitlines()]
    assert len(endeds) == len(lines), f"{program.name} ended with {done.returncode}: {done.stdout}\n{done.stderr}"
    return endeds


def faults(program: SecureProgram, cell: Cell, end: Ended) -> str:
    """What is not as expected, or the empty string."""
    if end.error != cell.error:
        return f"{program.name}, {cell.name}: {end.error!r} ({end.about}), not {cell.error!r}"
    if cell.is_slow and end.seconds < AT_LEAST_S:
        return f"{program.name}, {cell.name}: {RECORDS} records of {RATE} bytes took {end.seconds} s"
    if cell.is_slow and (end.throttle_ms > 0) is not program.reports_throttling:
        return f"{program.name}, {cell.name}: throttled for {end.throttle_ms} ms by its own report"
    return ""


def _go(name: str, *rest: Any, **more: Any) -> SecureProgram:
    return SecureProgram(name, go.TOOLCHAIN, binary("secure", name), *rest, **more)


def _java(version: str, **more: Any) -> SecureProgram:
    return SecureProgram(
        f"kafka-clients {version}",
        java.TOOLCHAIN,
        lambda folder: java.java(folder, version, "interop.Secure"),
        "SaslAuthenticationException",
        "TopicAuthorizationException",
        **more,
    )


def _js(name: str, refused: str, denied: str, refused_token: str) -> SecureProgram:
    command = js.own_command("secure.mjs", name)
    return SecureProgram(
        name, js.TOOLCHAIN, command, refused, denied, refused_token=refused_token, reports_throttling=False
    )


def _python(name: str, *rest: Any, **more: Any) -> SecureProgram:
    command = python.command("interop.programs.python.secure", name)
    return SecureProgram(name, python.TOOLCHAIN, lambda _: command, *rest, **more)


SECURE_PROGRAMS = (
    _go(
        "franz-go",
        "kerr.SaslAuthenticationFailed",
        "kerr.TopicAuthorizationFailed",
        refused_token="unexpected data in oauth response",
    ),
    _go("sarama", "sarama.ErrSASLAuthenticationFailed", "sarama.ErrTopicAuthorizationFailed"),
    # It asks for all topics, and looks for its own among those that it may see.
    _go("kafka-go", "kafka.SASLAuthenticationFailed", "kafka.UnknownTopicOrPartition", PASSWORDS),
    _java(java.CLIENTS[0]),
    _java(java.CLIENTS[1], is_long=True),
    # It takes certificates in JKS and PKCS12 only (KIP-651).
    _java(java.CLIENTS[2], is_long=True, has_tls=False),
    # Of an expired token kafkajs and @platformatic/kafka do not read the first answer, and go on.
    _js(
        "kafkajs",
        "KafkaJSSASLAuthenticationError",
        "KafkaJSProtocolError TOPIC_AUTHORIZATION_FAILED",
        refused_token="KafkaJSNonRetriableError",
    ),
    _js(
        "platformatic-kafka",
        "Error PLT_KFK_AUTHENTICATION",
        "Error TOPIC_AUTHORIZATION_FAILED",
        refused_token="AggregateError",
    ),
    # That of the system may be older than 2.6.1, whose SCRAM sends a nonce that Kafka 4 refuses.
    SecureProgram(
        "librdkafka",
        c.TOOLCHAIN,
        binary("secure"),
        "_AUTHENTICATION",
        "TOPIC_AUTHORIZATION_FAILED",
        ("PLAIN", OAUTHBEARER),
    ),
    SecureProgram(
        "rust-rdkafka",
        rust.TOOLCHAIN,
        binary("secure"),
        "Authentication",
        "TopicAuthorizationFailed",
        is_long=True,
    ),
    SecureProgram(
        "confluent-kafka-javascript",
        js.SLOW,
        js.confluent_command("confluent-secure.mjs"),
        WAITS,
        "KafkaJSProtocolError ERR_TOPIC_AUTHORIZATION_FAILED",
        reports_throttling=False,
        is_long=True,
    ),
    _python("confluent-kafka", "_AUTHENTICATION", "TOPIC_AUTHORIZATION_FAILED"),
    _python("kafka-python", "KafkaTimeoutError", "TopicAuthorizationFailedError"),
    _python(
        "aiokafka",
        "KafkaConnectionError",
        "TopicAuthorizationFailedError",
        refused_token=WAITS,
        reports_throttling=False,
    ),
)
