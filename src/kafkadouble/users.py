"""The users of a double with SASL.

    KafkaDouble(security="SASL_PLAINTEXT", users={"alice": "secret"})
    kafkadouble serve --security SASL_PLAINTEXT --user alice:secret

Rules. Every user can authenticate by PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512. For PLAIN the users
are in the settings, as in Kafka; for SCRAM their keys are written to the metadata of the cluster at
each start and each reset. A setting that is given wins. No error shows a password.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterable, Mapping
from random import Random
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kafkadouble.server.security.scram import DEFAULT_ITERATIONS, MECHANISMS, SALT_SIZE

from .errors import UsageError

if TYPE_CHECKING:
    from .broker import Broker
    from .cluster import Cluster

ENVIRONMENT = "KAFKADOUBLE_PASSWORD"
"""The password of a user that is given without one."""

PLAIN = "PLAIN"
MODULES = "org.apache.kafka.common.security"


def checked_users(users: object) -> dict[str, str]:
    """The users with their passwords. UsageError for anything else."""
    if not isinstance(users, Mapping) or not users:
        raise UsageError("users has a password for each name, such as {'alice': 'secret'}")
    for name, password in users.items():
        if not isinstance(name, str) or not name.isascii() or not name.isprintable() or not name:
            raise UsageError(f"users: {name!r} is no name of a user: it has printable ASCII characters")
        if not isinstance(password, str) or not password or "\0" in password:
            raise UsageError(f"users: the password of {name} is no text of one character or more")
    return dict(users)


def sasl_settings(listeners: Iterable[str], users: Mapping[str, str]) -> dict[str, str]:
    """Kafka's settings for these users on these listeners."""
    own = {
        "sasl.enabled.mechanisms": ",".join((PLAIN, *MECHANISMS)),
        "sasl.mechanism.inter.broker.protocol": PLAIN,
    }
    first, password = next(iter(users.items()))
    node = f"username={quoted(first)} password={quoted(password)}"
    known = " ".join(f"{quoted(f'user_{name}')}={quoted(password)}" for name, password in users.items())
    for listener in listeners:
        prefix = f"listener.name.{listener.lower()}."
        own[f"{prefix}plain.sasl.jaas.config"] = f"{MODULES}.plain.PlainLoginModule required {node} {known};"
        for mechanism in MECHANISMS:
            login = f"{MODULES}.scram.ScramLoginModule required {node};"
            own[f"{prefix}{mechanism.lower()}.sasl.jaas.config"] = login
    return own


def quoted(text: str) -> str:
    """A value in `sasl.jaas.config`."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def scram_request(users: Mapping[str, str], mechanism: str, random: Random) -> AlterUserScramCredentialsRequest:
    """The request that stores the keys of these users for one mechanism."""
    upsertions = [_upsertion(name, password, mechanism, random) for name, password in users.items()]
    return AlterUserScramCredentialsRequest(upsertions=upsertions)


def _upsertion(
    name: str, password: str, mechanism: str, random: Random
) -> AlterUserScramCredentialsRequest.ScramCredentialUpsertion:
    made, salt = MECHANISMS[mechanism], random.randbytes(SALT_SIZE)
    return AlterUserScramCredentialsRequest.ScramCredentialUpsertion(
        name=name,
        mechanism=made.type,
        iterations=DEFAULT_ITERATIONS,
        salt=salt,
        salted_password=hashlib.pbkdf2_hmac(made.hash, password.encode(), salt, DEFAULT_ITERATIONS),
    )


async def store_users(broker: Broker | Cluster, users: Mapping[str, str], random: Random) -> None:
    """Store the keys of these users. UsageError if the cluster refuses one."""
    # A request may name a user once. The requests are sent before the loop serves a client.
    sent = [broker.ask(scram_request(users, mechanism, random)) for mechanism in MECHANISMS]
    for each in sent:
        answer: Any = await asyncio.shield(asyncio.wrap_future(each))
        for result in answer.results:
            if result.error_code:
                raise UsageError(f"users: {result.user} cannot be stored: {result.error_message}")


def users_of_options(words: Iterable[str], file: str | None) -> dict[str, str]:
    """The users of `--user` and `--users-file`. UsageError."""
    lines = [*words]
    if file is not None:
        with open(file, encoding="utf-8") as opened:
            lines += [line for line in opened.read().splitlines() if line.strip() and not line.startswith("#")]
    found = {}
    for line in lines:
        name, colon, password = line.partition(":")
        if not colon:
            password = os.environ.get(ENVIRONMENT, "")
            if not password:
                raise UsageError(f"--user {name}: give NAME:PASSWORD, or the password in {ENVIRONMENT}")
        found[name] = password
    return found
