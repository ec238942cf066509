"""Listeners for nodes and connections that have no sockets."""

from kafkadouble.server.apis.served import CONTROLLER_SERVED, SERVED
from kafkadouble.server.configs.listener_specs import listener_specs
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.requests.listener_spec import Address, ListenerSpec

BROKER = ListenerSpec("PLAINTEXT", "PLAINTEXT", None, ("127.0.0.1", 9092), SERVED)
CONTROLLER = ListenerSpec("CONTROLLER", "PLAINTEXT", None, ("127.0.0.1", 9093), CONTROLLER_SERVED)


def listeners_of(
    settings: Settings, advertised: Address, controller: Address | None = None
) -> tuple[ListenerSpec, ...]:
    """The listeners of a node with these settings: its broker's are advertised here, its
    controller's there."""
    return tuple(
        spec._replace(advertised=controller if spec.is_of_controllers else advertised)
        for spec in listener_specs(settings)
    )
