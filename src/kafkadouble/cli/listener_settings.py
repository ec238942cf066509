"""Which of the listeners in a server.properties are the ones that clients and controllers use, and what they are told of them."""

from __future__ import annotations

from kafkadouble.server.configs.listeners import Endpoint, endpoints, security_protocols
from kafkadouble.server.configs.settings import Settings
from kafkadouble.wire.errors import UsageError


def client_listener(settings: Settings, default_host: str) -> tuple[str, int]:
    """Host and port of the first listener that is not a controller's. An empty host, which is every address to Kafka, is the default here."""
    endpoint = _of_clients(settings, "listeners")
    _check_protocol(settings, endpoint)
    return endpoint.host or default_host, endpoint.port


def controller_listener(settings: Settings, default_host: str) -> tuple[str, int] | None:
    """The same of the first listener that is a controller's; None when there is none, or the node is no controller."""
    if "listeners" not in settings.given or "controller" not in settings.list("process.roles"):
        return None
    names = _of_controllers(settings)
    endpoint = next((one for one in endpoints(settings) if one.name in names), None)
    if endpoint is None:
        return None
    _check_protocol(settings, endpoint)
    return endpoint.host or default_host, endpoint.port


def _check_protocol(settings: Settings, endpoint: Endpoint) -> None:
    protocol = security_protocols(settings).get(endpoint.name)
    if protocol != "PLAINTEXT":
        raise UsageError(
            f"{settings.given['listeners']}: listener {endpoint.name} speaks {protocol}, and only PLAINTEXT is served yet"
        )


def _of_controllers(settings: Settings) -> set[str]:
    return {name.upper() for name in settings.list("controller.listener.names")}


def advertised_listener(settings: Settings) -> tuple[str, int] | None:
    """What the settings say that clients are told, if they say so."""
    if "advertised.listeners" not in settings.given:
        return None
    endpoint = _of_clients(settings, "advertised.listeners")
    return endpoint.host, endpoint.port


def _of_clients(settings: Settings, setting: str) -> Endpoint:
    controllers = _of_controllers(settings)
    found = next((one for one in endpoints(settings, setting) if one.name not in controllers), None)
    if found is None:
        raise UsageError(f"{settings.given[setting]}: there is no listener for clients")
    return found
