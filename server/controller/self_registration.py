"""How the active controller registers its own node: as a controller, and as the broker of a cluster
of one (KIP-631, KIP-919).

The active controller writes the registration of its own controller, once per start; and that of its
own broker if the node was the whole quorum when it started. In every other quorum the broker
registers by a request, even if the active controller is in the same process
(`broker_lifecycle_manager`). From then on the broker's partitions follow the metadata: those that
it led before the start have no leader until it is unfenced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..configs.listeners import inter_broker_listener_name
from ..metadata.record_versions import DIRECTORIES, level_of
from ..requests.listener_spec import of_brokers, of_controllers
from . import bootstrap, broker_unfenced
from .advertised_listeners import endpoints_of

if TYPE_CHECKING:
    from .host import ControllerHost
    from .metadata_writer import MetadataWriter


def register_node(node: ControllerHost, controller: MetadataWriter) -> None:
    """Registers this node, which became the active controller."""
    _register_controller(node, controller)
    by_request = node.lifecycle is not None and node.lifecycle.registers_by_request
    if "broker" in node.roles and node.quorum.is_alone and not (node.is_registered or by_request):
        node.is_registered = True
        controller.listeners.append(node.partitions.image_changed)
        # Registered fenced, as every broker is; then unfenced, so that it leads its partitions
        # again.
        rack = node.settings["broker.rack"]
        epoch = controller.log.log_end_offset
        record = bootstrap.broker_record(
            node.id,
            controller.new_id(),
            endpoints_of(of_brokers(node.listeners), inter_broker_listener_name(node.settings)),
            epoch=epoch,
            rack=rack if isinstance(rack, str) else None,
            log_dirs=node.logs.directories,
        )
        last = controller.draft.brokers.get(node.id)
        clean = last is not None and node.logs.last_broker_epoch == last.epoch
        controller.commit(
            [record, *broker_unfenced.own_broker_registered(controller.draft, node.id, node.settings, clean=clean)]
        )
        controller.commit(broker_unfenced.own_broker_unfenced(controller.draft, node.id, node.settings))
        node.logs.put_aside_strays(broker_unfenced.own_partitions(controller.draft, node.id))


def complete_registration(node: ControllerHost, controller: MetadataWriter) -> None:
    """Writes the parts of this node's registration that the previous metadata.version did not
    have.
    """
    _register_controller(node, controller)
    image = controller.draft
    broker = image.brokers.get(node.id)
    if node.is_registered and broker is not None and not broker.log_dirs and level_of(image) >= DIRECTORIES:
        controller.commit([bootstrap.directories_record(node.id, broker.epoch, node.logs.directories)])


def _register_controller(node: ControllerHost, controller: MetadataWriter) -> None:
    known = controller.draft.controllers.get(node.id)
    if known is None or known.incarnation_id != node.incarnation_id:
        # A controller that no other node reaches has no listener; Kafka has always one, so the
        # address of its broker stands for it.
        listeners = of_controllers(node.listeners)
        alone = [listener._replace(advertised=node.advertised) for listener in listeners[:1]]
        endpoints = endpoints_of(listeners) or endpoints_of(alone)
        controller.commit([bootstrap.controller_record(node.id, node.incarnation_id, endpoints)])
