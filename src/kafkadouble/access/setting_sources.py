"""The settings of a double from everything that gives some, in one order. Later ones win:

    1. what `security`, `users`, `oauthbearer`, `certificate`, `acls` and `listeners` imply
    2. the file of `--config`
    3. settings by their names: `-c NAME=VALUE`, `config={...}`
    4. what is one setting by another name: `super_users`, and of `node_listeners.Overrides` host
       and port; `--data-dir` is one for `log.dirs`

Rules. The same for a program, the command line and a scenario. What two of these give by the same
name is refused: `access.with_scenario`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.common.errors import UsageError
from kafkadouble.common.listening import canonical_host_name, text_of
from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.engine.node_listeners import checked_listeners
from kafkadouble.server.configs.listeners import (
    ADVERTISED,
    INTER_BROKER_NAME,
    INTER_BROKER_PROTOCOL,
    LISTENERS,
    MAP,
    controller_listener_names,
    endpoints,
    security_protocols,
)
from kafkadouble.server.configs.settings import Given, Settings, as_text
from kafkadouble.server.requests.listener_spec import PROTOCOLS, WITH_SASL

from .client_access import ClientAccess

if TYPE_CHECKING:
    from kafkadouble.server.security import authorizer

    from . import acls, users
    from . import security as security_settings
    from .security import Security
else:  # a start waits for none of them
    security_settings = OnFirstUse("kafkadouble.access.security")
    acls = OnFirstUse("kafkadouble.access.acls")
    authorizer = OnFirstUse("kafkadouble.server.security.authorizer")
    users = OnFirstUse("kafkadouble.access.users")

OF_CONTROLLERS = "CONTROLLER:PLAINTEXT"


class OwnListeners(NamedTuple):
    """The listeners of a program or a command line: the host and port of
    the only one, or the port of each by its name. `hosts` are more names of the machine."""

    host: str
    port: int
    by_name: Mapping[str, int] | None = None
    hosts: Sequence[str] = ()


def settings_of(
    access: ClientAccess,
    listeners: OwnListeners,
    given: Sequence[Given],
    unknown: Sequence[Given] = (),
    words: Mapping[str, str] = {},
) -> tuple[Settings, Security | None]:
    """The settings of all sources, and the security that they have. `given`: those of a file, then
    those by name. `words`: how the names of `access` are written where they are given. UsageError.
    """
    implied = _listener_settings(access, listeners, given, words.get("security", "security"))
    security = None
    if access.is_secured:
        security = _security(access, listeners, Settings(sources=[*implied, *given]))
        implied += _places("security", security.config())
    if access.checks_acls:
        implied.append(("acls", "authorizer.class.name", authorizer.STANDARD))
    return Settings(sources=[*implied, *given, *_super_users(access, words)], unknown=unknown), security


def _super_users(access: ClientAccess, words: Mapping[str, str]) -> list[Given]:
    if access.super_users is None:
        return []
    place = access.places.get("super_users") or words.get("super_users", "super_users")
    return [(place, "super.users", acls.super_users_text(access.super_users))]


def _listener_settings(access: ClientAccess, listeners: OwnListeners, given: Sequence[Given], word: str) -> list[Given]:
    """The settings of `listeners`, or of the only one that `security` names."""
    names = {name: place for place, name, _ in given}
    if access.security is not None and LISTENERS in names:
        raise UsageError(
            f"{names[LISTENERS]}: {word} gives the broker its listener, and listeners does so, too: "
            f"leave out {word}, and give {MAP} the protocol of each"
        )
    if listeners.by_name is not None:
        return _places("listeners", _of_several(access, listeners, listeners.by_name, names))
    if access.security is None:
        return []
    if not isinstance(access.security, str):
        raise UsageError(f"security is {access.security!r}: it has the protocols of listeners, so give listeners")
    protocol = _checked(access)
    own = {
        LISTENERS: f"{protocol}://{text_of(listeners.host, listeners.port)}",
        INTER_BROKER_PROTOCOL: protocol,
        MAP: f"{protocol}:{protocol},{OF_CONTROLLERS}",
    }
    return _places(word, own)


def _of_several(
    access: ClientAccess, listeners: OwnListeners, by_name: Mapping[str, int], given: Mapping[str, str]
) -> dict[str, object]:
    """Kafka's settings for listeners that have a port each."""
    checked_listeners(by_name, listeners.port)
    protocols = _protocols(access, by_name)
    own: dict[str, object] = {
        LISTENERS: [f"{name}://{text_of(listeners.host, port)}" for name, port in by_name.items()],
        MAP: ",".join([*(f"{name}:{protocol}" for name, protocol in protocols.items()), OF_CONTROLLERS]),
    }
    if INTER_BROKER_PROTOCOL not in given:
        own[INTER_BROKER_NAME] = next(iter(by_name))
    return own


def _protocols(access: ClientAccess, names: Mapping[str, int]) -> dict[str, str]:
    """The protocol of each listener of `listeners`."""
    if not isinstance(access.security, Mapping):
        protocol = PROTOCOLS[0] if access.security is None else _checked(access)
        return dict.fromkeys(names, protocol)
    for name, protocol in access.security.items():
        if name not in names:
            raise UsageError(f"security: there is no listener {name!r}; there are {', '.join(names)}")
        if protocol not in PROTOCOLS:
            raise UsageError(f"security of {name} is {protocol!r}: there are {', '.join(PROTOCOLS)}")
        _check_users(access, protocol)
    return {name: access.security.get(name, PROTOCOLS[0]) for name in names}


def _checked(access: ClientAccess) -> str:
    """The only protocol of the listeners. UsageError where its users are missing."""
    with _located(access, "security"):
        protocol = security_settings.checked_protocol(str(access.security))
        _check_users(access, protocol)
    return protocol


def _check_users(access: ClientAccess, protocol: str) -> None:
    if protocol in WITH_SASL and (access.users is not None or access.oauthbearer is None):
        users.checked_users(access.users)


def _security(access: ClientAccess, listeners: OwnListeners, settings: Settings) -> security_settings.Security:
    """The security of these listeners. UsageError."""
    names = [name for name, _, _ in endpoints(settings) if name not in controller_listener_names(settings)]
    protocols = security_protocols(settings)
    hosts = dict.fromkeys((listeners.host, *listeners.hosts, *_hosts(settings)))
    by_listener = {name: protocols.get(name, PROTOCOLS[0]) for name in names}
    with _located(access, "security", "users", "certificate", "oauthbearer"):
        return security_settings.Security(
            by_listener, access.users, access.certificate, [*hosts], settings.given.keys(), access.oauthbearer
        )


@contextmanager
def _located(access: ClientAccess, *names: str) -> Iterator[None]:
    """UsageErrors begin with the place of the first of these that a scenario gives."""
    try:
        yield
    except UsageError as problem:
        place = next((access.places[name] for name in names if name in access.places), "")
        raise UsageError(f"{place}: {problem}" if place else str(problem)) from None


def _hosts(settings: Settings) -> Iterator[str]:
    """The names by which clients reach the listeners of the settings."""
    for setting in (LISTENERS, ADVERTISED):
        for _, host, _ in endpoints(settings, setting) if setting in settings.given else ():
            if host:
                yield host
            else:
                with suppress(OSError):
                    yield canonical_host_name()


def _places(place: str, settings: Mapping[str, object]) -> list[Given]:
    return [(place, name, as_text(value)) for name, value in settings.items()]
