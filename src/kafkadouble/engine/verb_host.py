"""What the verbs need of the double that they belong to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future
    from threading import Lock

    from kafkadouble.engine.broker import Broker
    from kafkadouble.engine.running import Running
    from kafkadouble.messages.message import Message
    from kafkadouble.server.network.clock import Clock

T = TypeVar("T")


class Steps(Protocol):
    """The steps of a scenario, which verbs call while time passes."""

    @property
    def outcomes(self) -> list[Any]:
        """Each step with its state."""
        ...

    def end(self) -> None:
        """Call no further step."""
        ...

    def join(self) -> None:
        """Wait for a step that is being called."""
        ...

    def advance(self, move: Callable[[int], Any], milliseconds: int) -> None:
        """Let time pass by `move`, and call the steps that become due."""
        ...

    def clock_changed(self) -> None:
        """The clock goes in another way from now on."""
        ...


class VerbHost:
    """A double. Verbs may be called from any thread; what touches the broker runs on its own."""

    is_real = False
    """Whether this is a real Kafka in place of a double, as the pytest plugin gives tests with
    `--kafka-broker`."""

    _clock: Clock
    _lock: Lock
    _round: int
    _steps: Steps | None

    def _end_steps(self) -> None:
        """Calls no further step of a scenario. On the broker's own thread the steps stay, as
        nothing can restart the cluster there."""
        if self._steps is not None and not self._serving().thread.here:
            self._steps.end()

    if TYPE_CHECKING:

        def _serving(self) -> Running:
            """What runs now. Raises UsageError if nothing does."""

        def _known(self) -> Running:
            """What runs, or ran until it was stopped. Raises UsageError before the first start."""

        def _call(self, function: Callable[..., T], *args: Any) -> T:
            """The result of a function that is called on the thread of the broker."""

        def _outcome(self, answer: Future[T]) -> T:
            """What the broker answers. Raises UsageError if it is stopped before."""

        def _moves(self, advance: bool) -> Callable[[float], None] | None:
            """How a wait lets time pass, if it does."""

        def _ask(self, body: Message, at: Broker | None = None) -> Any:
            """The response of a broker to this request, any broker unless one is given."""
