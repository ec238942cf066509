"""The mechanisms that a listener enables, from its settings: `sasl.enabled.mechanisms`, and for
each mechanism `listener.name.NAME.MECHANISM.sasl.jaas.config` (KIP-85, KIP-226).

Rules. A setting that Kafka refuses at the start raises UsageError, which names the setting and
shows no part of its value. A mechanism without such a login is refused, as in Kafka: it reads no
file of JAAS. The validator of OAUTHBEARER has the settings of the start: no client must alter where
keys come from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kafkadouble.wire.errors import UsageError

from ...configs.layers import Layers
from ...configs.listener_settings import JAAS, of_listener, of_mechanism, prefix_of
from ...configs.listeners import inter_broker_listener_name
from ...requests.timers import Timers
from . import jaas
from .bearer_validators import validator_of
from .credential_store import CredentialStore
from .jaas import Login
from .mechanisms import OAUTHBEARER, SaslMechanism, ServerConfig, mechanism_named
from .oauth_bearer import Validator
from .server_authenticator import EnabledMechanisms

if TYPE_CHECKING:
    from .remote_keys import KeyEndpoint, RemoteKeySet

ENABLED = "sasl.enabled.mechanisms"
INTER_BROKER = "sasl.mechanism.inter.broker.protocol"
CALLBACKS = "sasl.server.callback.handler.class"


def enabled_names(settings: Layers, listener: str) -> tuple[str, ...]:
    """The names of the mechanisms that a listener enables."""
    return tuple(dict.fromkeys(cast("tuple[str, ...]", of_listener(settings, listener, ENABLED) or ())))


def enabled_mechanisms(settings: Layers, listener: str, store: CredentialStore) -> EnabledMechanisms:
    """The mechanisms of a listener. UsageError."""
    names = enabled_names(settings, listener)
    if not names:
        raise UsageError(f"{ENABLED}: listener {listener} needs one mechanism at least")
    begin, max_reauth_ms = {}, {}
    for name in names:
        mechanism = mechanism_named(name, ENABLED)
        login = login_of(settings, listener, name, mechanism)
        config = ServerConfig(login.options, store, _validator(settings, listener, name, login, store))
        begin[name] = mechanism.server(config)
        max_reauth_ms[name] = cast(int, of_mechanism(settings, listener, name, "connections.max.reauth.ms") or 0)
    return EnabledMechanisms(begin, max_reauth_ms)


def check(settings: Layers, listener: str) -> None:
    """UsageError for settings of a listener that cannot be. The one that brokers use must enable
    the mechanism with which they log in."""
    enabled_mechanisms(settings, listener, cast(CredentialStore, _NO_STORE))
    mechanism = of_listener(settings, listener, INTER_BROKER)
    if listener.upper() == inter_broker_listener_name(settings) and mechanism not in enabled_names(settings, listener):
        raise UsageError(
            f"{INTER_BROKER}: {mechanism} must be included in {ENABLED} when SASL is used for inter-broker "
            f"communication, as on listener {listener}"
        )


class _NoStore:
    """In place of credentials and keys, where only settings are checked."""

    def token_check(self, token: str) -> None:
        """Refuses every token."""

    def now(self) -> int:
        return 0

    def remote_keys(self, endpoint: KeyEndpoint) -> RemoteKeySet:
        from .remote_keys import RemoteKeySets

        return RemoteKeySets(Timers()).at(endpoint, self.now())


_NO_STORE = _NoStore()


def login_of(settings: Layers, listener: str, name: str, mechanism: SaslMechanism) -> Login:
    """The login of a mechanism on a listener. UsageError."""
    setting = f"{prefix_of(listener)}{name.lower()}.{JAAS}"
    if setting not in settings.texts:
        raise UsageError(
            f"{setting} is missing: {name} needs it on listener {listener}, for example "
            f"org.apache.kafka.common.security.{_EXAMPLES[mechanism.modules[0]]};"
        )
    try:
        login = jaas.parse(str(settings.value(setting)))
    except UsageError as problem:
        raise UsageError(str(problem).replace(JAAS, setting, 1)) from None
    if login.module not in mechanism.modules:
        raise UsageError(f"{setting}: {name} needs {' or '.join(mechanism.modules)}, not {login.module[:60]}")
    return login


_EXAMPLES = {
    "PlainLoginModule": 'plain.PlainLoginModule required user_alice="secret"',
    "ScramLoginModule": "scram.ScramLoginModule required",
    "OAuthBearerLoginModule": "oauthbearer.OAuthBearerLoginModule required",
}


def _validator(settings: Layers, listener: str, name: str, login: Login, store: CredentialStore) -> Validator | None:
    settings = Layers(settings.static)
    own = f"{prefix_of(listener)}{name.lower()}.{CALLBACKS}"
    given = str(settings.value(own)) if own in settings.texts else ""
    if name == OAUTHBEARER:
        return validator_of(given, settings, listener, login.options, store)
    if given:
        raise UsageError(f"{own}: {given} cannot be loaded, as no class can: leave it out")
    return None
