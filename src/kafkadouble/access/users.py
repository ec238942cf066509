"""The users of a double with SASL.

    KafkaDouble(security="SASL_PLAINTEXT", users={"alice": "secret"})
    kafkadouble serve --security SASL_PLAINTEXT --user alice:secret

Rules. Every user can authenticate by PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512. For PLAIN the users
are in the settings, as in Kafka; for SCRAM their keys are written to the metadata of the cluster at
each start and each reset. A setting that is given wins. No error shows a password.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from kafkadouble.common.errors import UsageError
from kafkadouble.messages.generated.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kafkadouble.server.configs.alter import Resource
from kafkadouble.server.configs.listener_settings import prefix_of
from kafkadouble.server.security.sasl.mechanisms import OAUTHBEARER, UNSECURED
from kafkadouble.server.security.scram import DEFAULT_ITERATIONS, MECHANISMS, SALT_SIZE

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import BrokerApi

    from .bearer_tokens import BearerTokens

ENVIRONMENT = "KAFKADOUBLE_PASSWORD"
"""The password of a user that is given without one."""

PLAIN = "PLAIN"
NODE = "kafkadouble"
"""The user as which a broker logs in to others, where there are none but bearer tokens."""

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


def sasl_settings(listeners: Sequence[str], users: Mapping[str, str], tokens: BearerTokens | None) -> dict[str, str]:
    """Kafka's settings for these users on these listeners, and for bearer tokens."""
    enabled = [*((PLAIN, *MECHANISMS) if users else ()), *((OAUTHBEARER,) if tokens else ())]
    own = {"sasl.enabled.mechanisms": ",".join(enabled), "sasl.mechanism.inter.broker.protocol": enabled[0]}
    first, password = next(iter(users.items()), (NODE, ""))
    logins = {}
    if users:
        own |= plain_logins(listeners, users, (first, password))
        node = _node_login(first, password)
        logins = dict.fromkeys(MECHANISMS, f"{MODULES}.scram.ScramLoginModule required {node};")
    token = f"{UNSECURED}sub={quoted(first)}"  # also where settings enable it
    logins[OAUTHBEARER] = f"{MODULES}.oauthbearer.OAuthBearerLoginModule required {token};"
    if tokens is not None:
        own |= tokens.config(listeners)
    for listener in listeners:
        for mechanism, login in logins.items():
            own[f"{prefix_of(listener)}{mechanism.lower()}.sasl.jaas.config"] = login
    return own


def plain_logins(listeners: Iterable[str], users: Mapping[str, str], node: tuple[str, str]) -> dict[str, str]:
    """Kafka's settings with the users of PLAIN. `node` is the name and the password with which
    brokers log in to one another."""
    known = "".join(f" {quoted(f'user_{name}')}={quoted(password)}" for name, password in users.items())
    login = f"{MODULES}.plain.PlainLoginModule required {_node_login(*node)}{known};"
    return {f"{prefix_of(listener)}plain.sasl.jaas.config": login for listener in listeners}


def _node_login(name: str, password: str) -> str:
    return f"username={quoted(name)} password={quoted(password)}"


def quoted(text: str) -> str:
    """A value in `sasl.jaas.config`."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def scram_requests(users: Mapping[str, str], random: Random) -> list[AlterUserScramCredentialsRequest]:
    """The requests that store the keys of these users, one for each mechanism: a request may name a
    user once."""
    return [scram_request(users, mechanism, random) for mechanism in MECHANISMS]


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


def scram_removals(user: str) -> list[AlterUserScramCredentialsRequest]:
    """The requests that delete the keys of a user, one for each mechanism."""
    deletion = AlterUserScramCredentialsRequest.ScramCredentialDeletion
    return [
        AlterUserScramCredentialsRequest(deletions=[deletion(name=user, mechanism=made.type)])
        for made in MECHANISMS.values()
    ]


def check_results(answer: Any) -> None:
    """UsageError if the cluster refuses a user."""
    for result in answer.results:
        if result.error_code:
            raise UsageError(f"users: {result.user} cannot be stored: {result.error_message}")


def changed_users(broker: BrokerApi) -> dict[str, str]:
    """The users of PLAIN that a broker was given while it ran; empty if there were no changes. For
    the thread of the broker."""
    from kafkadouble.server.security.sasl import jaas, plain  # with security alone

    configs = broker.image.config_overrides(Resource.BROKER, str(broker.node.id))
    logins = [text for name, text in configs.items() if name.endswith(".plain.sasl.jaas.config")]
    return plain.users_of(jaas.parse(logins[0]).options) if logins else {}


def users_of_options(words: Iterable[str], file: str | None, of_environment: str) -> dict[str, str]:
    """The users of the environment, of `--users-file` and of `--user`, of which later ones win.
    UsageError."""
    lines = _lines_of(of_environment)
    if file is not None:
        with open(file, encoding="utf-8") as opened:
            lines += _lines_of(opened.read())
    lines += words
    found = {}
    for line in lines:
        name, colon, password = line.partition(":")
        if not colon:
            password = os.environ.get(ENVIRONMENT, "")
            if not password:
                raise UsageError(f"--user {name}: give NAME:PASSWORD, or the password in {ENVIRONMENT}")
        found[name] = password
    return found


def _lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
