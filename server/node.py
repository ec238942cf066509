"""The parts of one node put together: a request in, an answer or a wait out; a tick in, whatever was due done.

The node is handed the time with every step and keeps it in `now` (ms) for the length of that step, so that a handler that is resumed later
sees the later time. It delegates everything: who may wait is `waiting`, what is known of the cluster is the `controller`'s image, the logs
led here are `partitions`, the groups coordinated here are `groups`.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import GeneratorType
from typing import Any

from kafkadouble.messages.uuid import Uuid

from . import dispatch, housekeeping, outages
from .cleaning import Cleaner
from .dispatch import Answer
from .faults.plane import Faults
from .fetching.sessions import Sessions
from .flushing import Flushing
from .groups.coordinator import GroupCoordinator
from .history import History
from .intake import Intake
from .logs.logs import Logs
from .logs.memory import MemoryLogs
from .metadata.controller import Controller
from .partitions import Partitions
from .request import Request
from .settings import Settings
from .waiting import Task, Waiting


class Node:
    """A single combined node, broker and controller: a quorum of one.

    `advertised` is the (host, port) that clients are told; `seed` feeds every choice that Kafka makes at random (topic ids, member ids,
    session ids), so that the same requests at the same times give the same answers. `history` is for those who will ask what was requested:
    it costs time with every request. `logs` are what it keeps, and what an earlier life left to it; in memory unless given.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        advertised: tuple[str, int],
        now: int,
        seed: int,
        history: bool = True,
        logs: Logs | None = None,
    ) -> None:
        self.settings, self.advertised, self.now = settings, advertised, now
        self.id = settings.int("node.id")
        self.random = Random(seed)
        self.logs = logs or MemoryLogs()
        self.halted: str | None = None
        """Why this node cannot go on; its owner is to end it."""
        self.cluster_id = self.logs.cluster_id or str(Uuid.random(self.random.randbytes))
        self.waiting = Waiting()
        self.intake = Intake(_intake_limit(settings), self.waiting.timers)
        self.unsent = 0
        """Bytes of answers that peers do not read, over all connections; a Fetch gives no more than one batch when there are too many."""
        self.faults = Faults(self)
        self.history = History() if history else None
        self.fetch_sessions = Sessions(settings.int("max.incremental.fetch.session.cache.slots"), self.random)
        self.flushing = Flushing()
        self.partitions = Partitions(self)
        self.controller = Controller(self)
        self.groups = GroupCoordinator(self)
        self.controller.listeners.append(self.partitions.image_changed)
        self.controller.start()
        self.cleaner = Cleaner(self)
        housekeeping.begin(self)

    def submit(self, request: Request[Any], reply: Callable[[Answer], None], now: int) -> Task | None:
        """Take a request; `reply` is called once with its answer, perhaps before this returns.

        The task that comes back is to be closed when the connection ends; None means that everything is done.
        """
        waiting = self.waiting
        if waiting.timers.due(now):
            self.tick(now)
        self.now = now
        plain = (
            self.history is None and not self.faults.rules
        )  # as mostly: then a call less on the way of every request
        answer = (dispatch.handled if plain else dispatch.answer)(self, request)
        if not isinstance(answer, GeneratorType):
            reply(answer)  # type: ignore[arg-type]  # what is no generator is an answer, which mypy cannot conclude
            if waiting.ready:
                waiting.run(now)
            if self.logs.failures:
                outages.face(self)
            return None
        task = waiting.start(answer, reply, lambda failure: reply(dispatch.DISCONNECT))
        waiting.run(now)
        if self.logs.failures:
            outages.face(self)
        return task if task.alive else None

    def tick(self, now: int) -> None:
        """Do what is due."""
        self.now = now
        self.waiting.run(now)
        if self.logs.failures:
            outages.face(self)

    def close(self, now: int) -> None:
        """Stop in good order; nothing is asked of it afterwards."""
        self.now = now
        self.logs.close(now, self.controller.image.brokers[self.id].epoch)

    def next_deadline(self) -> int | None:
        """When `tick` is wanted next (ms), if nothing else happens."""
        return self.waiting.timers.next_deadline()

    def __repr__(self) -> str:
        return f"node {self.id} of cluster {self.cluster_id} at {self.advertised[0]}:{self.advertised[1]}"


def _intake_limit(settings: Settings) -> int:
    """How many bytes of unanswered requests are held: `queued.max.request.bytes`, and where that is unlimited, as by default, one frame."""
    bound = settings.int("queued.max.request.bytes")
    return bound if bound > 0 else settings.int("socket.request.max.bytes")
