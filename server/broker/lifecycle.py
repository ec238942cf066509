"""The life of a broker of a cluster: it registers, says again and again that it lives, serves, and stops in order
(KIP-631, KIP-858, KIP-966). The controller that it says so to may be in the same process.

Rules. It serves from when it has read the metadata up to its own registration, and is unfenced after that; clients are let in when it has read
that, too, and never shut out again. A registration that the controller does not know any more is made again. What a broker needs of the
controller meanwhile, topics that clients make it want, and ids for producers, is asked for once at a time. The broker of a node that is the
whole quorum needs none of this (`own_registration`), until it leads no more.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.allocate_producer_ids import AllocateProducerIdsRequest
from kafkadouble.messages.generated.broker_heartbeat import BrokerHeartbeatRequest
from kafkadouble.messages.generated.broker_registration import BrokerRegistrationRequest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..apis.served import CONTROLLER_SERVED
from ..controller import broker_unfenced
from ..metadata.features import BROKER_ONLY_FEATURES, SUPPORTED
from ..metadata.image import EMPTY, Image
from .assignments_manager import OwnDirectories
from .forwarding import forwarded, is_forwarded
from .node_to_controller_channel import ToController

if TYPE_CHECKING:
    from ..node import Node
    from ..requests.answer import Answer
    from ..requests.request import Request
    from ..requests.timers import Timer
    from ..requests.waiting import Wait

log = logging.getLogger("kafkadouble.server.broker")

NOT_REGISTERED = -1
"""The epoch of a broker that is not registered."""

SOON_MS, AGAIN_MS = 20, 1000
"""Between two heartbeats of one that starts or stops; until a registration that was refused for now is tried again."""

FOR_NOW = (
    error_codes.DUPLICATE_BROKER_REGISTRATION,
    error_codes.UNKNOWN_SERVER_ERROR,
    error_codes.REQUEST_TIMED_OUT,
    error_codes.BROKER_NOT_AVAILABLE,
)
UNKNOWN = (error_codes.STALE_BROKER_EPOCH, error_codes.BROKER_ID_NOT_REGISTERED)
TIMEOUT_MS = 30_000

Topic = CreateTopicsRequest.CreatableTopic


class BrokerLife:
    """That of one node. `forwarding` carries what is not about its own life."""

    def __init__(self, node: Node, to_controller: ToController, forwarding: ToController) -> None:
        self._node, self._to_controller, self.forwarding = node, to_controller, forwarding
        self.epoch = NOT_REGISTERED
        self.serves = self.is_open = self.is_over = False
        self.registers = False  # by requests to the active controller, from the first one on
        self._stopping = self._wants_ids = False
        self._timer: Timer | None = None  # while nothing is asked
        self._wanted: set[str] = set()  # topics that the controller was asked for
        self._offline: list[Uuid] = []  # log directories that have failed, told in every heartbeat
        self._told = self._state()  # in the last heartbeat
        self._directories = OwnDirectories(node, forwarding)
        node.controller.listeners.append(self._image_changed)

    @property
    def has_begun(self) -> bool:
        """Whether the controller knows of this broker by what it asked here."""
        return self.epoch != NOT_REGISTERED

    def begin(self) -> None:
        """Register, as soon as somebody leads."""
        self.registers = True
        self._ask(self._registration(), self._registered)

    def go_on(self, epoch: int) -> None:
        """This broker was registered in this epoch by itself, and leads the quorum no more."""
        if not self.has_begun:
            self.epoch, self.serves = epoch, True
            self._directories.begin()
            self._beat()

    def stop(self) -> None:
        """Give up what is led; `is_over` when the controller has let this broker go."""
        self._stopping = True
        self.is_over = not self.has_begun
        self._beat_now()

    def lost(self, directory: Uuid) -> None:
        """A log directory has failed (KIP-858)."""
        self._offline.append(directory)
        if self.has_begun:
            self._beat_now()

    def partitions_lost(self, partitions: Sequence[tuple[str, int]]) -> None:
        """Files of these partitions are gone; their directory serves on."""
        if self.has_begun:
            self._directories.lost(partitions)

    def handed_on(self, request: Request[Any]) -> Wait[Answer] | None:
        """The answer of another node to what a client asks here and only the active controller can do; None when this node answers."""
        return forwarded(self._node, self, request) if is_forwarded(self._node, request) else None

    def create(self, topics: Iterable[Topic]) -> None:
        """Have topics made, some time."""
        missing = [topic for topic in topics if topic.name not in self._wanted]
        if missing:
            names = {topic.name for topic in missing}
            self._wanted |= names
            body = CreateTopicsRequest(topics=missing, timeout_ms=TIMEOUT_MS)
            self.forwarding.ask(body, _version(body), lambda response: self._wanted.difference_update(names))

    def want_producer_ids(self) -> None:
        """Have a block of ids for producers, some time."""
        if not self._wants_ids and self.has_begun:
            self._wants_ids = True
            body = AllocateProducerIdsRequest(broker_id=self._node.id, broker_epoch=self.epoch)
            self.forwarding.ask(body, _version(body), self._allocated)

    def _allocated(self, response: Any) -> None:
        self._wants_ids = False
        if response is not None and not response.error_code:
            self._node.controller.producer_ids.take(response.producer_id_start, response.producer_id_len)

    def _ask(self, body: Message, done: Callable[[Any], None]) -> None:
        self._to_controller.ask(body, _version(body), done)

    def _registration(self) -> BrokerRegistrationRequest:
        of, node = BrokerRegistrationRequest, self._node
        (host, port), rack = node.advertised, node.settings["broker.rack"]
        return of(
            broker_id=node.id,
            cluster_id=node.cluster_id,
            incarnation_id=node.incarnation_id,
            listeners=[of.Listener(name="PLAINTEXT", host=host, port=port)],
            features=[
                of.Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in {**SUPPORTED, **BROKER_ONLY_FEATURES}.items()
            ],
            rack=rack if isinstance(rack, str) else None,
            log_dirs=node.logs.directories,
            previous_broker_epoch=node.logs.last_broker_epoch,
        )

    def _registered(self, response: Any) -> None:
        code = error_codes.UNSUPPORTED_VERSION if response is None else response.error_code
        if code == error_codes.NONE:
            self.epoch = response.broker_epoch
            self._look(self._node.controller.image)
            self._beat()
        elif code in FOR_NOW:
            self._later(AGAIN_MS, self.begin)
        else:
            self._node.halted = f"the controller does not register this broker: {error_codes.name(code)}"

    def _state(self) -> tuple[bool, int]:
        """What the controller is told at once when it changes."""
        return self.serves, len(self._offline)

    def _beat(self) -> None:
        self._told = self._state()
        self._ask(
            BrokerHeartbeatRequest(
                broker_id=self._node.id,
                broker_epoch=self.epoch,
                current_metadata_offset=self._node.controller.image.end.offset - 1,
                want_fence=not self.serves,
                want_shut_down=self._stopping,
                offline_log_dirs=list(self._offline),
            ),
            self._beaten,
        )

    def _beat_now(self) -> None:
        """The next heartbeat comes at once, or after the answer to the one that is under way."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            if self.has_begun:
                self._beat()

    def _beaten(self, response: Any) -> None:
        code = error_codes.UNSUPPORTED_VERSION if response is None else response.error_code
        if code in UNKNOWN and not self._stopping:
            log.warning(
                "the controller does not know broker %d in epoch %d: it registers again", self._node.id, self.epoch
            )
            self.begin()
            return
        if self._stopping and (code in UNKNOWN or (not code and response.should_shut_down)):
            self.is_over = True
            return
        if self._told != self._state():  # it has changed while this was under way
            self._beat()
            return
        settled = not code and not response.is_fenced and not self._stopping
        self._later(self._node.settings.int("broker.heartbeat.interval.ms") if settled else SOON_MS, self._beat)

    def _later(self, milliseconds: int, do: Callable[[], None]) -> None:
        def due(now: int) -> None:
            self._timer = None
            do()

        self._timer = self._node.waiting.timers.at(self._node.now + milliseconds, due)

    def _image_changed(self, before: Image, after: Image, records: Any) -> None:
        self._look(after)

    def _look(self, image: Image) -> None:
        """Serve, once the own registration is in the image, and let clients in, once the image says that this broker is unfenced."""
        if not self.has_begun or image.end.offset <= self.epoch:
            return
        if not self.serves:
            self._serve(image)
        own = image.brokers.get(self._node.id)
        self.is_open = self.is_open or (own is not None and own.epoch == self.epoch and not own.fenced)

    def _serve(self, image: Image) -> None:
        node, self.serves = self._node, True
        node.controller.listeners.append(node.partitions.image_changed)
        node.partitions.image_changed(EMPTY, image, None)
        node.logs.put_aside_strays(broker_unfenced.own_partitions(image, node.id))
        self._directories.begin()
        self._beat_now()

    def __repr__(self) -> str:
        return f"broker {self._node.id} in epoch {self.epoch}, {'serving' if self.serves else 'starting'}"


def _version(body: Message) -> int:
    return CONTROLLER_SERVED[body.api_key or 0].highest
