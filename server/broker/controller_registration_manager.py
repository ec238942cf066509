"""Registers a controller that is not active at the active controller (KIP-919).

It checks every committed image: while the node's registration is missing, or is of an earlier
incarnation, it sends ControllerRegistration. The active controller writes its own registration
(`self_registration`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.controller_registration import ControllerRegistrationRequest

from ..controller.advertised_listeners import endpoints_of
from ..metadata.features import METADATA_VERSION, SUPPORTED
from ..metadata.image import Image
from ..metadata.record_versions import CONTROLLERS
from ..requests.listener_spec import of_controllers
from .node_to_controller_channel import NodeToControllerChannel

if TYPE_CHECKING:
    from .host import BrokerHost

VERSION = 0
of = ControllerRegistrationRequest


class ControllerRegistrationManager:
    """Registers one node's controller."""

    def __init__(self, node: BrokerHost, to_controller: NodeToControllerChannel) -> None:
        self._node, self._to_controller = node, to_controller
        self._in_flight = False

    def image_changed(self, before: Image, after: Image, records: Any) -> None:
        """Checks this node's registration in the image."""
        node = self._node
        known = after.controllers.get(node.id)
        is_known = known is not None and known.incarnation_id == node.incarnation_id
        if is_known or self._in_flight or node.controller.leads or not node.quorum.replica.endpoints:
            return
        if after.features.get(METADATA_VERSION, 0) >= CONTROLLERS:
            self._in_flight = True
            self._to_controller.send_request(self._request(), VERSION, self._answered)

    def _request(self) -> ControllerRegistrationRequest:
        return of(
            controller_id=self._node.id,
            incarnation_id=self._node.incarnation_id,
            listeners=[of.Listener(**each._asdict()) for each in endpoints_of(of_controllers(self._node.listeners))],
            features=[
                of.Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in SUPPORTED.items()
            ],
        )

    def _answered(self, response: Any) -> None:
        self._in_flight = False  # still missing in the next image: it is sent again
