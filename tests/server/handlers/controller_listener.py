"""A node's controller listener, without sockets: requests of brokers and controllers go through its
bytes, as in `tests.server.harness`."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages import headers, registry
from kafkadouble.messages.generated.broker_heartbeat import BrokerHeartbeatRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.apis.served import CONTROLLER_SERVED
from kafkadouble.server.requests.request import Peer, Request
from tests.server.controller import broker_life
from tests.server.harness import Harness, Pending
from tests.support.listeners import CONTROLLER

SIZE_FIELD = 4
CORRELATION_ID = 7


class Controllers(Harness):
    """A harness whose `submit` and `begin` go to the controller listener."""

    def begin(self, message: Message, version: int, client_id: str = "test") -> Pending:
        frame = b"".join(headers.write_request(message, CORRELATION_ID, client_id, version))[SIZE_FIELD:]
        head = headers.read_request_header(frame)
        assert CONTROLLER_SERVED[head.api_key].serves(version)
        body: Any = registry.api(head.api_key).request.decode(frame, version, head.body_offset)
        peer = Peer(2, "127.0.0.1", 50_001, CONTROLLER)
        request = Request(
            head.api_key, version, CORRELATION_ID, client_id, body, peer, received=self.now, size=len(frame)
        )
        return self.hand_in(request)

    @property
    def end(self) -> int:
        """The offset of the next record."""
        return self.node.controller.log.log_end_offset

    def register(self, broker: int, *, version: int = 4, **changed: Any) -> Any:
        """Registers a broker, with all required fields except those that are changed."""
        arguments = {"cluster_id": self.node.cluster_id, **changed}
        return self.submit(broker_life.request(broker, **arguments), version)

    def beat(self, broker: int, *, version: int = 2, **fields: Any) -> Any:
        """A heartbeat of a broker that has read the whole metadata log."""
        known = self.image.brokers.get(broker)
        arguments = {
            "broker_epoch": -1 if known is None else known.epoch,
            "current_metadata_offset": self.end - 1,
            **fields,
        }
        return self.submit(BrokerHeartbeatRequest(broker_id=broker, **arguments), version)


def versions(name: str) -> range:
    """The versions in which an API is served there."""
    served = next(served for served in CONTROLLER_SERVED.values() if served.name == name)
    return range(served.lowest, served.highest + 1)
