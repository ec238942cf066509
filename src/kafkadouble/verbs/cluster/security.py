"""The methods of KafkaDouble about its users, their rights and sessions, and its certificate."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from kafkadouble.arguments.parameters import check, check_given
from kafkadouble.common.errors import UsageError
from kafkadouble.common.marking import verb
from kafkadouble.common.start_options import OAUTHBEARER, SASL, SSL
from kafkadouble.engine.verb_host import VerbHost
from kafkadouble.server.requests.listener_spec import of_brokers

if TYPE_CHECKING:
    from kafkadouble.access.acls import AclBinding
    from kafkadouble.access.bearer_tokens import BearerTokens
    from kafkadouble.access.security import Security
    from kafkadouble.common.literals import CertificateKind, ClientLibrary
    from kafkadouble.engine.broker import Broker
    from kafkadouble.engine.cluster import Cluster
    from kafkadouble.messages.generated.create_acls import CreateAclsRequest
    from kafkadouble.server.configs.settings import Settings
    from kafkadouble.server.requests.listener_spec import ListenerSpec
    from kafkadouble.server.security.sasl.oauth_bearer import TokenCheck

GET_TOKENS = ("confluent-kafka", "java")
"""The clients that get signed tokens themselves."""


class SecurityVerbs(VerbHost):
    """A part of KafkaDouble."""

    _acls: Sequence[CreateAclsRequest.AclCreation] = ()
    _security: Security | None = None
    _seed: int | None

    _nodes: list[tuple[ListenerSpec, ...]]
    _settings: Settings

    if TYPE_CHECKING:

        def bootstrap(self, listener: str) -> str:
            """HOST:PORT of every broker on a listener."""

        @property
        def page(self) -> str:
            """The URL of the live page."""

    @property
    def _token_check(self) -> TokenCheck | None:
        return None if self._security is None else self._security.token_check

    @verb
    def client_config(
        self,
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
        from kafkadouble.clients.client_config import client_config
        from kafkadouble.clients.client_security import ListenerAccess, client_security

        check(client=client, contents=contents)
        check_given(user=user, mechanism=mechanism, listener=listener)
        broker = self._serving().broker
        access = ListenerAccess(of_brokers(self._nodes[0]), self._settings, self._security, broker.clock.now())
        found = client_security(access, user, mechanism, listener)
        if found.login is not None and found.login.is_signed and client in GET_TOKENS:
            found = found._replace(token_endpoint=self.token_endpoint)
        return client_config(found._replace(bootstrap=self.bootstrap(found.listener), contents=contents), client)

    @property
    def token_errors(self) -> list[BaseException]:
        """The exceptions of the function of `oauthbearer`, at most 100. Each refused a token."""
        tokens = None if self._security is None else self._security.tokens
        return [] if tokens is None else tokens.errors

    @property
    def token_endpoint(self) -> str:
        """The URL where clients get a token by the name and the secret of a client (the grant
        `client_credentials` of OAuth 2.0), as `bearer_token` makes them. Raises UsageError without
        `oauthbearer`, and without the extra `kafkadouble[control]`."""
        self._tokens()
        return f"{self.page}oauth/token"

    @verb
    def bearer_token(self, user: str, lifetime_ms: int = 3_600_000, claims: Mapping[str, Any] | None = None) -> str:
        """A token of OAUTHBEARER for a user: with `oauthbearer="signed"` one of the issuer, else
        one without a signature. `claims`, such as `{"aud": "other"}` or `{"scope": ["read"]}`, are
        added and override those of every token. A negative lifetime makes a token that has expired.

        Raises UsageError without `oauthbearer`.
        """
        check(user=user, lifetime_ms=lifetime_ms)
        check_given(claims=claims)
        return self._tokens().token(user, self._serving().broker.clock.now(), lifetime_ms, claims or {})

    @property
    def token_keys(self) -> dict[str, Any]:
        """The JWK set of the issuer. Raises UsageError without `oauthbearer="signed"`."""
        issuer = self._tokens().issuer
        if issuer is None:
            raise UsageError("tokens have no signature: give {option}", option=OAUTHBEARER)
        return issuer.key_set

    def is_client(self, client: str, secret: str) -> bool:
        """Whether a client gets a token for this secret: any, unless it is a user, whose password
        it is then."""
        users = {} if self._security is None else self._security.users
        return hmac.compare_digest(users.get(client, secret).encode(), secret.encode())

    def _tokens(self) -> BearerTokens:
        """UsageError if clients do not log in by tokens."""
        tokens = None if self._security is None else self._security.tokens
        if tokens is None:
            raise UsageError("the listeners take no tokens of the double: give {option}", option=OAUTHBEARER)
        return tokens

    @verb
    def set_user(self, user: str, password: str) -> None:
        """Adds a user, or changes the password of a user, for PLAIN, SCRAM-SHA-256 and
        SCRAM-SHA-512. Clients that are authenticated stay so, until `expire_sasl_sessions` ends
        their sessions. `reset` restores the users of the start.

        A broker that does not run keeps its users of PLAIN. Raises UsageError without SASL.
        """
        from kafkadouble.access import users

        check(user=user, password=password)
        security = self._with_sasl()
        users.checked_users({user: password})
        for request in users.scram_requests({user: password}, Random(self._seed)):
            users.check_results(self._ask(request))
        security.users = {**security.users, user: password}
        self._alter_brokers(security.login_config())

    @verb
    def remove_user(self, user: str) -> None:
        """Removes a user. Clients that are authenticated as this user stay so, as in Kafka, until
        `expire_sasl_sessions` ends their sessions.

        Raises UsageError without SASL, and for a user that there is not.
        """
        from kafkadouble.access import users

        check(user=user)
        security = self._with_sasl()
        if user not in security.users:
            raise UsageError(f"user is {user!r}: there are {', '.join(security.users)}")
        for request in users.scram_removals(user):
            users.check_results(self._ask(request))
        security.users = {name: password for name, password in security.users.items() if name != user}
        self._alter_brokers(security.login_config())

    @property
    @verb
    def acls(self) -> list[str]:
        """The ACLs of the cluster, as texts. Raises KafkaError(SECURITY_DISABLED) if brokers do not
        check ACLs."""
        from kafkadouble.access import acls

        return acls.described(self._ask(acls.to_describe()))

    @verb
    def create_acls(self, acls: Iterable[AclBinding | str]) -> None:
        """Creates ACLs, as texts such as `User:alice allow READ,WRITE topic:orders*` or as
        AclBindings. They apply from the next request on. `reset` restores the ACLs of the start.

        Raises KafkaError(SECURITY_DISABLED) if brokers do not check ACLs: give `acls=[]`.
        """
        from kafkadouble.access import acls as texts

        creations = texts.checked_acls(acls)
        texts.check_creations(creations, self._ask(texts.to_create(creations)))

    @verb
    def delete_acls(self, acls: Iterable[AclBinding | str]) -> list[str]:
        """Deletes exactly these ACLs, and returns those of them that existed.

        Raises KafkaError(SECURITY_DISABLED) if brokers do not check ACLs.
        """
        from kafkadouble.access import acls as texts

        return texts.deleted(self._ask(texts.to_delete(texts.checked_acls(acls))))

    @verb
    def expire_sasl_sessions(self, principal: str | None = None) -> int:
        """Ends the sessions of clients that logged in by SASL, as `connections.max.reauth.ms` does
        later (KIP-368). `principal` limits this to one principal, such as `User:alice`. The broker
        closes such a connection at its next request, unless the client authenticates again first.
        Returns the number of connections."""
        check_given(principal=principal)
        broker = self._serving().broker
        return self._call(_expire, broker, principal)

    @verb
    def set_certificate(self, certificate: CertificateKind) -> None:
        """Lets running brokers show another certificate to new connections: `valid`, `expired`,
        `self-signed` or `wrong-host`. `reset` restores the certificate of the start.

        Raises UsageError without TLS.
        """
        from kafkadouble.brokers import broker_settings

        check(certificate=certificate)
        if self._security is None or self._security.certificates is None:
            raise UsageError("the listeners have no TLS: give {option}", option=SSL)
        broker = self._serving().broker
        for member in self._call(lambda: list(broker.members)):
            self._call(broker_settings.accept_any_certificate, member)
        self._alter_brokers(self._security.certificate_config(certificate))

    def _with_sasl(self) -> Security:
        if self._security is None or not self._security.has_sasl:
            raise UsageError("the listeners have no SASL: give {option}", option=SASL)
        return self._security

    def _alter_brokers(self, configs: dict[str, str]) -> None:
        """Set settings of every broker that runs, as an admin client would."""
        from kafkadouble.brokers import broker_settings

        broker = self._serving().broker
        for member in self._call(lambda: list(broker.members)):
            broker_settings.check_results(self._ask(broker_settings.to_set(member.node.id, configs), member))

    def _begin_security(self) -> None:
        running = self._known()
        running.thread.run(self._with_users(running.broker))

    def _security_was_restored(self) -> None:
        if self._security is not None and self._security.has_sasl:
            from kafkadouble.access.users import changed_users

            broker = self._serving().broker
            self._security.begin()
            found = self._call(lambda: [users for each in broker.members if (users := changed_users(each))])
            self._security.users = found[0] if found else self._security.users

    async def _with_users(self, broker: Broker | Cluster) -> None:
        if self._security is not None:
            from kafkadouble.access.start_security import begin

            await begin(broker, self._security, Random(self._seed))


def _expire(broker: Broker | Cluster, principal: str | None) -> int:
    """On the thread of the brokers."""
    expired = 0
    for member in broker.members:
        for protocol in member.listener.connections:
            authenticator = protocol.connection.peer.authenticator
            is_meant = principal in (None, protocol.connection.peer.principal)
            expired += authenticator is not None and is_meant and authenticator.expire(broker.clock.now())
    return expired
