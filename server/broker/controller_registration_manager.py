"""A controller that does not lead makes itself known to the one that does (KIP-919).

It looks at every image that is committed: as long as what the cluster knows of it is another life of it, or nothing, it asks to be registered;
one that leads writes that itself (`own_registration`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.controller_registration import ControllerRegistrationRequest

from ..metadata.features import METADATA_VERSION, supported_features
from ..metadata.image import Image
from ..metadata.record_versions import CONTROLLERS
from .node_to_controller_channel import ToController

if TYPE_CHECKING:
    from ..node import Node

VERSION = 0
of = ControllerRegistrationRequest


class Registrar:
    """That of one node."""

    def __init__(self, node: Node, to_controller: ToController) -> None:
        self._node, self._to_controller = node, to_controller
        self._asked = False
        node.controller.listeners.append(self.image_changed)

    def image_changed(self, before: Image, after: Image, records: Any) -> None:
        """Look whether this node is in it."""
        node = self._node
        known = after.controllers.get(node.id)
        is_known = known is not None and known.incarnation_id == node.incarnation_id
        if is_known or self._asked or node.controller.leads or node.controller_endpoint is None:
            return
        if after.features.get(METADATA_VERSION, 0) >= CONTROLLERS:
            self._asked = True
            self._to_controller.ask(self._request(*node.controller_endpoint), VERSION, self._answered)

    def _request(self, host: str, port: int) -> ControllerRegistrationRequest:
        return of(
            controller_id=self._node.id,
            incarnation_id=self._node.incarnation_id,
            listeners=[of.Listener(name=self._node.quorum.replica.listener_name, host=host, port=port)],
            features=[
                of.Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in supported_features(self._node.roles).items()
            ],
        )

    def _answered(self, response: Any) -> None:
        self._asked = False  # whoever is not in the next image, asks again
