"""Which of the listeners in a server.properties is the one that clients use, and what they are told of it."""

from __future__ import annotations

from kafkadouble.server.configs.listeners import Endpoint, endpoints, security_protocols
from kafkadouble.server.settings import Settings
from kafkadouble.wire.errors import UsageError


def client_listener(settings: Settings, default_host: str) -> tuple[str, int]:
    """Host and port of the first listener that is not a controller's. An empty host, which is every address to Kafka, is the default here."""
    endpoint = _of_clients(settings, "listeners")
    protocol = security_protocols(settings).get(endpoint.name)
    if protocol != "PLAINTEXT":
        raise UsageError(
            f"{settings.given['listeners']}: listener {endpoint.name} speaks {protocol}, and only PLAINTEXT is served yet"
        )
    return endpoint.host or default_host, endpoint.port


def advertised_listener(settings: Settings) -> tuple[str, int] | None:
    """What the settings say that clients are told, if they say so."""
    if "advertised.listeners" not in settings.given:
        return None
    endpoint = _of_clients(settings, "advertised.listeners")
    return endpoint.host, endpoint.port


def _of_clients(settings: Settings, setting: str) -> Endpoint:
    controllers = {name.upper() for name in settings.list("controller.listener.names")}
    found = next((one for one in endpoints(settings, setting) if one.name not in controllers), None)
    if found is None:
        raise UsageError(f"{settings.given[setting]}: there is no listener for clients")
    return found
