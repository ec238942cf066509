"""An armed rule: how much has met it, and whether it applies to what comes next.

It decides by counting, by time and by the rule's own random numbers, and knows neither a node nor a
request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

from ..metadata.image import Image
from ..requests.waiting import Waiters
from .dialogue import Dialogue
from .planes import PLANES
from .rule import Rule
from .sentence import step_text

MOST_ERRORS = 1000
"""The exceptions that a rule keeps, the latest."""


class FunctionError(Exception):
    """A function of a rule raised what no handler of a request expects."""


class Armed:
    """A rule and its counts: `met` requests matched, or connections, messages of a link, operations
    of a disk, and it was applied to `hits` of them.

    `since` is when it was armed (ms), `image` is the metadata of then, for an action that needs
    it. `paused` are the requests that it holds until it is released. `on_spent` is called when a
    rule that holds nothing is spent. `random` are its own random numbers, for its action too. `id`
    is its number in the register, 0 outside of one. `errors` are the exceptions of its functions,
    the latest 1000.
    """

    __slots__ = ("errors", "hits", "id", "image", "is_released", "met", "on_spent", "paused", "random", "rule", "since")

    def __init__(self, rule: Rule, seed: int, since: int = 0, image: Image | None = None) -> None:
        self.rule, self.since, self.image = rule, since, image
        self.id = self.met = self.hits = 0
        self.paused, self.is_released = Waiters(), False
        self.on_spent: Callable[[Armed], None] | None = None
        self.errors: list[BaseException] = []
        self.random = Random(seed if rule.trigger.seed is None else rule.trigger.seed)

    def applies(self, now: int) -> bool:
        """Whether it applies to what it meets now. A spent rule never does."""
        trigger = self.rule.trigger
        if self.spent or now < self.begin or self.is_over(now):
            return False
        self.met += 1
        if self.met < trigger.on_call:
            return False
        if trigger.probability is not None and self.random.random() >= trigger.probability:
            return False
        self.hits += 1
        self._hit()
        return True

    @contextmanager
    def keeping_errors(self) -> Iterator[None]:
        """For the time of a call of one of its functions: keeps the exception, and passes it on as
        one that fails only the request. pytest.fail raises a BaseException, which would end the
        thread of the broker."""
        try:
            yield
        except BaseException as problem:
            self.errors.append(problem)
            del self.errors[:-MOST_ERRORS]
            if isinstance(problem, Exception):
                raise
            raise FunctionError(f"{self.rule!r}: its function raised {problem!r}") from problem

    def _hit(self) -> None:
        if self.on_spent is not None and self.spent and self.rule.is_one_off:
            self.on_spent(self)

    @property
    def begin(self) -> int:
        """When it begins (ms)."""
        return self.since + round((self.rule.trigger.after_seconds or 0) * 1000)

    @property
    def end(self) -> int | None:
        """When its time is over (ms), if that is limited."""
        length = self.rule.trigger.for_seconds
        return None if length is None else self.begin + round(length * 1000)

    def is_over(self, now: int) -> bool:
        """Whether its time is over."""
        end = self.end
        return end is not None and now >= end

    @property
    def unit(self) -> str:
        """The unit of its counts."""
        return PLANES[self.rule.plane].unit

    @property
    def spent(self) -> bool:
        """Whether it was applied `times` times."""
        times = self.rule.times
        return times is not None and self.hits >= times

    @property
    def action(self) -> Any:
        """What it does to what it is applied to next: of a dialogue, the next step."""
        action = self.rule.action
        if not isinstance(action, Dialogue):
            return action
        return action.steps[self.hits] if self.hits < len(action.steps) else None

    @property
    def is_unfinished(self) -> bool:
        """Whether it is a dialogue that began, and has further steps that do something."""
        action = self.rule.action
        return isinstance(action, Dialogue) and 0 < self.hits < action.last

    def release(self) -> None:
        """Releases the requests that it holds; it holds no further ones."""
        self.is_released = True
        self.paused.wake_all()

    def __repr__(self) -> str:
        times = f"{self.rule!r}: applied {self.hits} times"
        action = self.rule.action
        if not isinstance(action, Dialogue) or self.spent:
            return times
        return f"{times}, next is step {self.hits + 1} of {len(action.steps)}: {step_text(self.action)}"
