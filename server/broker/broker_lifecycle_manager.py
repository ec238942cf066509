"""The lifecycle of a broker in its cluster: registers, sends heartbeats, serves, and shuts down
(KIP-631, KIP-858, KIP-966). The active controller may be in the same process.

The broker serves once it has read the metadata up to its own registration, and is unfenced after
that. Clients may connect once it has read that too, and are never locked out again. A registration
that the controller does not know any more is repeated. Requests to create topics and to allocate
producer ids are sent one at a time. The broker of a node that is the whole cluster needs none of
this (`self_registration`), until the node stops being the active controller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.allocate_producer_ids import AllocateProducerIdsRequest
from kafkadouble.messages.generated.broker_heartbeat import BrokerHeartbeatRequest
from kafkadouble.messages.generated.broker_registration import BrokerRegistrationRequest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.client_log import ClientLog

from ..apis.served import CONTROLLER_SERVED
from ..configs.listeners import inter_broker_listener_name
from ..controller import broker_unfenced
from ..controller.advertised_listeners import endpoints_of
from ..metadata.features import SUPPORTED
from ..metadata.image import EMPTY, Image
from ..requests.listener_spec import of_brokers
from .forwarding import forwarded, is_forwarded

if TYPE_CHECKING:
    from ..requests.answer import Answer
    from ..requests.request import Request
    from ..requests.timers import Timer
    from ..requests.waiting import Wait
    from .assignments_manager import AssignmentsManager
    from .host import BrokerHost
    from .node_to_controller_channel import NodeToControllerChannel

log = ClientLog("kafkadouble.server.broker")

NOT_REGISTERED = -1
"""The epoch of a broker that is not registered."""

STARTUP_INTERVAL_MS, REGISTRATION_RETRY_MS = 20, 1000
"""The time (ms) between heartbeats during start and shutdown; the time (ms) before a refused
registration is repeated.
"""

RETRIABLE_ERRORS = (
    error_codes.DUPLICATE_BROKER_REGISTRATION,
    error_codes.UNKNOWN_SERVER_ERROR,
    error_codes.REQUEST_TIMED_OUT,
    error_codes.BROKER_NOT_AVAILABLE,
)
NOT_REGISTERED_ERRORS = (error_codes.STALE_BROKER_EPOCH, error_codes.BROKER_ID_NOT_REGISTERED)
CREATE_TIMEOUT_MS = 30_000

Topic = CreateTopicsRequest.CreatableTopic


class BrokerLifecycleManager:
    """The lifecycle of one node's broker. `forwarding` carries every request that is not part of
    it.
    """

    def __init__(
        self,
        node: BrokerHost,
        to_controller: NodeToControllerChannel,
        forwarding: NodeToControllerChannel,
        assignments: AssignmentsManager,
    ) -> None:
        self._node, self._to_controller, self.forwarding = node, to_controller, forwarding
        self._assignments = assignments
        self.epoch = NOT_REGISTERED
        self.serves = self.is_open = self.has_shut_down = False
        self.registers_by_request = False  # by a request to the active controller
        self._stopping = self._producer_ids_requested = False
        self._timer: Timer | None = None  # None while a request is in flight
        self._requested_topics: set[str] = set()  # topics in a CreateTopics request
        # Failed log directories, part of every heartbeat -> whether the controller knows of them.
        self._offline_dirs: dict[Uuid, bool] = {}
        self._reported_state = self._current_state()  # the state in the last heartbeat

    @property
    def is_registered_by_request(self) -> bool:
        """Whether this broker is registered by a request of its own."""
        return self.epoch != NOT_REGISTERED

    def begin(self) -> None:
        """Registers, as soon as there is an active controller. The node halts if it is not
        registered for the first time within `initial.broker.registration.timeout.ms`."""
        timeout_ms = self._node.settings.int("initial.broker.registration.timeout.ms")
        self._node.waiting.timers.at(self._node.now + timeout_ms, self._check_registered)
        self._register()

    def _register(self) -> None:
        self.registers_by_request = True
        self._send(self._registration(), self._registered)

    def _check_registered(self, now: int) -> None:
        if not self.is_registered_by_request:
            timeout_ms = self._node.settings.int("initial.broker.registration.timeout.ms")
            self._node.halted = f"no controller registered this broker in {timeout_ms} ms: is the quorum reachable?"
            log.error("%s", self._node.halted)

    def continue_registered(self, epoch: int) -> None:
        """This node registered its own broker in this epoch, and is not the active controller any
        more.
        """
        if not self.is_registered_by_request:
            self.epoch, self.serves = epoch, True
            self._assignments.begin()
            self._send_heartbeat()

    def stop(self) -> None:
        """Starts a controlled shutdown; `has_shut_down` becomes true when the controller allows the
        broker to stop: at once without `controlled.shutdown.enable`, and then the broker leads
        until its session ends.
        """
        self._stopping = True
        if not self._node.settings.bool("controlled.shutdown.enable"):
            self.has_shut_down = True
            self._cancel_timer()
            return
        self.has_shut_down = not self.is_registered_by_request
        self._send_heartbeat_now()

    def log_dir_failed(self, directory: Uuid) -> None:
        """A log directory failed (KIP-858). The node halts if it cannot tell the controller within
        `log.dir.failure.timeout.ms`."""
        self._offline_dirs[directory] = False
        timeout_ms = self._node.settings.int("log.dir.failure.timeout.ms")
        self._node.waiting.timers.at(self._node.now + timeout_ms, partial(self._check_reported, directory))
        if self.is_registered_by_request:
            self._send_heartbeat_now()

    def _check_reported(self, directory: Uuid, now: int) -> None:
        if (self.registers_by_request or self.is_registered_by_request) and not self._offline_dirs[directory]:
            self._node.halted = f"the failure of the log directory {directory} could not be reported to the controller"
            log.error("%s", self._node.halted)

    def partitions_lost(self, partitions: Sequence[tuple[str, int]]) -> None:
        """Files of these partitions are lost; their directory still works."""
        if self.is_registered_by_request:
            self._assignments.partitions_lost(partitions)

    def assign_directory(self, topic_id: Uuid, index: int, directory: Uuid | None) -> None:
        """A replica will soon be in this log directory; with None it is where it is."""
        self._assignments.assign(topic_id, index, directory)

    def forward(self, request: Request[Any]) -> Wait[Answer] | None:
        """The active controller's answer to a client's request that only it can handle; None if
        this node handles it.
        """
        return forwarded(self._node, self.forwarding, request) if is_forwarded(self._node, request) else None

    def create_topics(self, topics: Iterable[Topic], done: Callable[[Any], None] | None = None) -> bool:
        """Requests the creation of topics, except of those that are requested already. `done` gets
        the response, or None if there can be none. Returns False, and calls nothing, if all are
        requested already."""
        missing = [topic for topic in topics if topic.name not in self._requested_topics]
        if missing:
            names = {topic.name for topic in missing}
            self._requested_topics |= names

            def answered(response: Any) -> None:
                self._requested_topics -= names
                if done is not None:
                    done(response)

            body = CreateTopicsRequest(topics=missing, timeout_ms=CREATE_TIMEOUT_MS)
            self.forwarding.send_request(body, _version(body), answered)
        return bool(missing)

    def request_producer_ids(self) -> None:
        """Requests a block of producer ids."""
        if not self._producer_ids_requested and self.is_registered_by_request:
            self._producer_ids_requested = True
            body = AllocateProducerIdsRequest(broker_id=self._node.id, broker_epoch=self.epoch)
            self.forwarding.send_request(body, _version(body), self._producer_ids_allocated)

    def _producer_ids_allocated(self, response: Any) -> None:
        self._producer_ids_requested = False
        if response is not None and not response.error_code:
            self._node.controller.producer_ids.take(response.producer_id_start, response.producer_id_len)

    def _send(self, body: Message, done: Callable[[Any], None]) -> None:
        self._to_controller.send_request(body, _version(body), done)

    def _registration(self) -> BrokerRegistrationRequest:
        of, node = BrokerRegistrationRequest, self._node
        endpoints = endpoints_of(of_brokers(node.listeners), inter_broker_listener_name(node.settings))
        rack = node.settings["broker.rack"]
        return of(
            broker_id=node.id,
            cluster_id=node.cluster_id,
            incarnation_id=node.incarnation_id,
            listeners=[of.Listener(**endpoint._asdict()) for endpoint in endpoints],
            features=[
                of.Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in SUPPORTED.items()
            ],
            rack=rack if isinstance(rack, str) else None,
            log_dirs=node.logs.directories,
            previous_broker_epoch=node.logs.last_broker_epoch,
        )

    def _registered(self, response: Any) -> None:
        code = error_codes.UNSUPPORTED_VERSION if response is None else response.error_code
        if code == error_codes.NONE:
            self.epoch = response.broker_epoch
            self._check_own_registration(self._node.image)
            self._send_heartbeat()
        elif code in RETRIABLE_ERRORS:
            self._schedule(REGISTRATION_RETRY_MS, self._register)
        else:
            self._node.halted = f"the controller does not register this broker: {error_codes.name(code)}"

    def _current_state(self) -> tuple[bool, int]:
        """States that is reported at once when it changes."""
        return self.serves, len(self._offline_dirs)

    def _send_heartbeat(self) -> None:
        self._reported_state = self._current_state()
        self._send(
            BrokerHeartbeatRequest(
                broker_id=self._node.id,
                broker_epoch=self.epoch,
                current_metadata_offset=self._node.image.end.offset - 1,
                want_fence=not self.serves,
                want_shut_down=self._stopping,
                offline_log_dirs=list(self._offline_dirs),
            ),
            partial(self._heartbeat_answered, list(self._offline_dirs)),
        )

    def _send_heartbeat_now(self) -> None:
        """Sends the next heartbeat at once, or after the answer to the one in flight."""
        if self._cancel_timer() and self.is_registered_by_request:
            self._send_heartbeat()

    def _cancel_timer(self) -> bool:
        """Whether a request was to be sent later, and is not any more."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        return timer is not None

    def _heartbeat_answered(self, reported: Iterable[Uuid], response: Any) -> None:
        """Handles the answer to a heartbeat that `reported` these failed log directories."""
        if self.has_shut_down:
            return
        code = error_codes.UNSUPPORTED_VERSION if response is None else response.error_code
        if code in NOT_REGISTERED_ERRORS and not self._stopping:
            log.warning(
                "the controller does not know broker %d in epoch %d: it registers again", self._node.id, self.epoch
            )
            self._register()
            return
        if self._stopping and (code in NOT_REGISTERED_ERRORS or (not code and response.should_shut_down)):
            self.has_shut_down = True
            return
        if not code:
            self._offline_dirs.update(dict.fromkeys(reported, True))
        # changed while the heartbeat was in flight
        if self._reported_state != self._current_state():
            self._send_heartbeat()
            return
        settled = not code and not response.is_fenced and not self._stopping
        self._schedule(
            self._node.settings.int("broker.heartbeat.interval.ms") if settled else STARTUP_INTERVAL_MS,
            self._send_heartbeat,
        )

    def _schedule(self, milliseconds: int, do: Callable[[], None]) -> None:
        def due(now: int) -> None:
            self._timer = None
            do()

        self._timer = self._node.waiting.timers.at(self._node.now + milliseconds, due)

    def image_changed(self, before: Image, after: Image, records: Any) -> None:
        """Checks this broker's registration in the image."""
        self._check_own_registration(after)

    def _check_own_registration(self, image: Image) -> None:
        """Starts to serve once the broker's registration is in the image, and lets clients in once
        it is unfenced there.
        """
        if not self.is_registered_by_request or image.end.offset <= self.epoch:
            return
        if not self.serves:
            node, self.serves = self._node, True
            node.controller.listeners.append(node.partitions.image_changed)
            node.partitions.image_changed(EMPTY, image, None)
            node.logs.put_aside_strays(broker_unfenced.own_partitions(image, node.id))
            self._assignments.begin()
            self._send_heartbeat_now()
        own = image.brokers.get(self._node.id)
        self.is_open = self.is_open or (own is not None and own.epoch == self.epoch and not own.fenced)

    def __repr__(self) -> str:
        return f"broker {self._node.id} in epoch {self.epoch}, {'serving' if self.serves else 'starting'}"


def _version(body: Message) -> int:
    return CONTROLLER_SERVED[body.api_key or 0].highest
