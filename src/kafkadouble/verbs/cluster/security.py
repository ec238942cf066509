"""The methods of KafkaDouble about its users, their rights and sessions, and its certificate."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from random import Random
from typing import TYPE_CHECKING, Any

from kafkadouble.access import acls as texts
from kafkadouble.access import users
from kafkadouble.arguments.parameters import check, check_given
from kafkadouble.brokers import broker_settings
from kafkadouble.clients import client_config as forms
from kafkadouble.clients.client_security import ListenerAccess, client_security
from kafkadouble.common.errors import UsageError
from kafkadouble.common.marking import attribute, method, verb
from kafkadouble.common.start_options import OAUTHBEARER, SASL, SSL
from kafkadouble.server.requests.listener_spec import of_brokers

if TYPE_CHECKING:
    from kafkadouble.access.acls import AclBinding
    from kafkadouble.access.bearer_tokens import BearerTokens
    from kafkadouble.access.security import Security
    from kafkadouble.common.literals import CertificateKind, ClientLibrary
    from kafkadouble.engine.cluster_api import ClusterApi
    from kafkadouble.host.host import Host

GET_TOKENS = ("confluent-kafka", "java")
"""The clients that get signed tokens themselves."""


@verb
def client_config(
    host: Host,
    user: str | None = None,
    client: ClientLibrary = "confluent-kafka",
    mechanism: str | None = None,
    contents: bool = False,
    listener: str | None = None,
) -> dict[str, Any]:
    """The settings of a client, in the form of its library: confluent-kafka, kafka-python,
    aiokafka, java, franz-go or kafkajs; or `generic`, a form for every other library. With
    SASL the client logs in as `user`, by PLAIN or another `mechanism`; with SSL it shows a
    certificate of this user. Its principal is `User:` and the name. With `contents` the
    settings have certificates in place of names of files, for a client on another machine.
    `listener` is the listener that the client connects to; the default is the first one that
    fits the user and the mechanism.

    Raises UsageError for a user without `security`, or one that there is not, and for an
    unknown listener.
    """
    check(client=client, contents=contents)
    check_given(user=user, mechanism=mechanism, listener=listener)
    broker = host.serving().broker
    access = ListenerAccess(of_brokers(host.nodes[0]), host.settings, host.security, broker.clock.now())
    found = client_security(access, user, mechanism, listener)
    if found.login is not None and found.login.is_signed and client in GET_TOKENS:
        found = found._replace(token_endpoint=host.double.token_endpoint)
    return forms.client_config(
        found._replace(bootstrap=host.double.bootstrap(found.listener), contents=contents), client
    )


@attribute
def token_errors(host: Host) -> list[BaseException]:
    """The exceptions of the function of `oauthbearer`, at most 100. Each refused a token."""
    tokens = None if host.security is None else host.security.tokens
    return [] if tokens is None else tokens.errors


@attribute
def token_endpoint(host: Host) -> str:
    """The URL where clients get a token by the name and the secret of a client (the grant
    `client_credentials` of OAuth 2.0), as `bearer_token` makes them. Raises UsageError without
    `oauthbearer`, and without the extra `kafkadouble[control]`."""
    _tokens(host)
    return f"{host.double.page}oauth/token"


@verb
def bearer_token(host: Host, user: str, lifetime_ms: int = 3_600_000, claims: Mapping[str, Any] | None = None) -> str:
    """A token of OAUTHBEARER for a user: with `oauthbearer="signed"` one of the issuer, else
    one without a signature. `claims`, such as `{"aud": "other"}` or `{"scope": ["read"]}`, are
    added and override those of every token. A negative lifetime makes a token that has expired.

    Raises UsageError without `oauthbearer`.
    """
    check(user=user, lifetime_ms=lifetime_ms)
    check_given(claims=claims)
    return _tokens(host).token(user, host.serving().broker.clock.now(), lifetime_ms, claims or {})


@attribute
def token_keys(host: Host) -> dict[str, Any]:
    """The JWK set of the issuer. Raises UsageError without `oauthbearer="signed"`."""
    issuer = _tokens(host).issuer
    if issuer is None:
        raise UsageError("tokens have no signature: give {option}", option=OAUTHBEARER)
    return issuer.key_set


@method
def is_client(host: Host, client: str, secret: str) -> bool:
    """Whether a client gets a token for this secret: any, unless it is a user, whose password
    it is then."""
    users = {} if host.security is None else host.security.users
    return hmac.compare_digest(users.get(client, secret).encode(), secret.encode())


def _tokens(host: Host) -> BearerTokens:
    """UsageError if clients do not log in by tokens."""
    tokens = None if host.security is None else host.security.tokens
    if tokens is None:
        raise UsageError("the listeners take no tokens of the double: give {option}", option=OAUTHBEARER)
    return tokens


@verb
def set_user(host: Host, user: str, password: str) -> None:
    """Adds a user, or changes the password of a user, for PLAIN, SCRAM-SHA-256 and
    SCRAM-SHA-512. Clients that are authenticated stay so, until `expire_sasl_sessions` ends
    their sessions. `reset` restores the users of the start.

    A broker that does not run keeps its users of PLAIN. Raises UsageError without SASL.
    """
    check(user=user, password=password)
    security = _with_sasl(host)
    users.checked_users({user: password})
    for request in users.scram_requests({user: password}, Random(host.seed)):
        users.check_results(host.ask(request))
    security.users = {**security.users, user: password}
    _alter_brokers(host, security.login_config())


@verb
def remove_user(host: Host, user: str) -> None:
    """Removes a user. Clients that are authenticated as this user stay so, as in Kafka, until
    `expire_sasl_sessions` ends their sessions.

    Raises UsageError without SASL, and for a user that there is not.
    """
    check(user=user)
    security = _with_sasl(host)
    if user not in security.users:
        raise UsageError(f"user is {user!r}: there are {', '.join(security.users)}")
    for request in users.scram_removals(user):
        users.check_results(host.ask(request))
    security.users = {name: password for name, password in security.users.items() if name != user}
    _alter_brokers(host, security.login_config())


@attribute
@verb
def acls(host: Host) -> list[str]:
    """The ACLs of the cluster, as texts. Raises KafkaError(SECURITY_DISABLED) if brokers do not
    check ACLs."""
    return texts.described(host.ask(texts.to_describe()))


@verb
def create_acls(host: Host, acls: Iterable[AclBinding | str]) -> None:
    """Creates ACLs, as texts such as `User:alice allow READ,WRITE topic:orders*` or as
    AclBindings. They apply from the next request on. `reset` restores the ACLs of the start.

    Raises KafkaError(SECURITY_DISABLED) if brokers do not check ACLs: give `acls=[]`.
    """
    creations = texts.checked_acls(acls)
    texts.check_creations(creations, host.ask(texts.to_create(creations)))


@verb
def delete_acls(host: Host, acls: Iterable[AclBinding | str]) -> list[str]:
    """Deletes exactly these ACLs, and returns those of them that existed.

    Raises KafkaError(SECURITY_DISABLED) if brokers do not check ACLs.
    """
    return texts.deleted(host.ask(texts.to_delete(texts.checked_acls(acls))))


@verb
def expire_sasl_sessions(host: Host, principal: str | None = None) -> int:
    """Ends the sessions of clients that logged in by SASL, as `connections.max.reauth.ms` does
    later (KIP-368). `principal` limits this to one principal, such as `User:alice`. The broker
    closes such a connection at its next request, unless the client authenticates again first.
    Returns the number of connections."""
    check_given(principal=principal)
    broker = host.serving().broker
    return host.call(_expire, broker, principal)


@verb
def set_certificate(host: Host, certificate: CertificateKind) -> None:
    """Lets running brokers show another certificate to new connections: `valid`, `expired`,
    `self-signed` or `wrong-host`. `reset` restores the certificate of the start.

    Raises UsageError without TLS.
    """
    check(certificate=certificate)
    if host.security is None or host.security.certificates is None:
        raise UsageError("the listeners have no TLS: give {option}", option=SSL)
    broker = host.serving().broker
    for member in host.call(lambda: list(broker.members)):
        host.call(broker_settings.accept_any_certificate, member)
    _alter_brokers(host, host.security.certificate_config(certificate))


def _with_sasl(host: Host) -> Security:
    if host.security is None or not host.security.has_sasl:
        raise UsageError("the listeners have no SASL: give {option}", option=SASL)
    return host.security


def _alter_brokers(host: Host, configs: dict[str, str]) -> None:
    """Sets settings of every broker that runs, as an admin client would."""
    broker = host.serving().broker
    for member in host.call(lambda: list(broker.members)):
        broker_settings.check_results(host.ask(broker_settings.to_set(member.node.id, configs), member))


def _expire(broker: ClusterApi, principal: str | None) -> int:
    """Expires the sessions of a principal, or of all. Runs on the thread of the brokers."""
    expired = 0
    for member in broker.members:
        for protocol in member.listener.connections:
            authenticator = protocol.connection.peer.authenticator
            is_meant = principal in (None, protocol.connection.peer.principal)
            expired += authenticator is not None and is_meant and authenticator.expire(broker.clock.now())
    return expired
