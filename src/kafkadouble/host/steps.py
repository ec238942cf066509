"""The passage of time: a double with a clock, and the steps of its scenario."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from kafkadouble.engine.running import Running
    from kafkadouble.server.network.clock import Clock


class Steps(Protocol):
    """The steps of a scenario, which verbs call while time passes."""

    @property
    def outcomes(self) -> list[Any]:
        """The steps with their states."""
        ...

    def end(self) -> None:
        """Calls no further step."""
        ...

    def join(self) -> None:
        """Waits for a step that is being called."""
        ...

    def advance(self, move: Callable[[int], Any], milliseconds: int) -> None:
        """Advances the clock by `move`, and calls the steps that become due."""
        ...

    def clock_changed(self) -> None:
        """The clock goes in another way from now on."""
        ...


class Advanced(Protocol):
    """A double with a clock that can be moved."""

    def advance(self, seconds: float) -> None:
        """Advances the clock."""
        ...


class Timed(Protocol):
    """A double whose time passes: what `host_clock` needs of a Host."""

    clock: Clock
    steps: Steps | None

    @property
    def double(self) -> Advanced:
        """The double that the program holds."""
        ...

    def serving(self) -> Running:
        """The cluster that runs now."""
        ...

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """The result of a function that is called on the thread of the broker."""
        ...
