"""The methods of a KafkaDouble that arm and clear fault rules.

A rule is checked when it is armed: a rule that could never apply is refused with a UsageError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import UsageError

if TYPE_CHECKING:
    from typing import Unpack

    from kafkadouble.server.faults.rule import Narrowing, Rule

    from .rules import RuleHandle
    from .running import Running

T = TypeVar("T")


class FaultVerbs:
    """Arms fault rules; a KafkaDouble supplies the broker and the thread that owns it."""

    if TYPE_CHECKING:

        def _serving(self) -> Running: ...
        def _known(self) -> Running: ...
        def _on_thread(self, running: Running, function: Callable[[], T]) -> T: ...

    def arm(self, rule: Rule) -> RuleHandle:
        """Arms a fault rule. Raises UsageError when it could never apply."""
        from kafkadouble.server.faults.rule import Rule, checked

        from .rules import RuleHandle, check

        if not isinstance(rule, Rule):
            raise UsageError(f"a rule is a Rule, not {rule!r}")

        def arm() -> RuleHandle:
            broker = self._serving().broker
            check(checked(rule), broker)
            node = broker.any_broker.node
            return RuleHandle(self._disarm, node, node.faults.arm(rule))

        return self._serving().thread.call(arm)

    def clear_rules(self) -> None:
        """Disarms every fault rule, including those that other callers armed."""
        self._serving().thread.call(lambda: self._serving().broker.clear_rules())

    def fail(
        self,
        api: str,
        error: str | int,
        *,
        times: int | None = 1,
        message: str | None = None,
        when: str = "before",
        **more: Unpack[Narrowing],
    ) -> RuleHandle:
        """Answers the next request to an API with an error.

        `error` is Kafka's name or number of the error. `times` is the number of requests, None for
        all of them. `when` is "before" the request is processed, or "after". `more` narrows the
        `Rule`, with `topic`, `partition`, `group`, `client_id` and others; when it is narrowed to a
        topic or a partition, only that part of a request fails.
        """
        return self._arm(action="fail", api=api, error=error, times=times, message=message, when=when, **more)

    def delay(
        self, api: str, seconds: float, *, times: int | None = 1, when: str = "before", **more: Unpack[Narrowing]
    ) -> RuleHandle:
        """Delays the next request to an API by a number of seconds of the broker's clock.

        `times`, `when` and `more` are as for `fail`.
        """
        return self._arm(action="delay", api=api, seconds=seconds, times=times, when=when, **more)

    def disconnect(
        self, api: str, *, after: bool = False, times: int | None = 1, **more: Unpack[Narrowing]
    ) -> RuleHandle:
        """Closes the connection of the next request to an API, before or after the request is
        processed.

        `times` and `more` are as for `fail`.
        """
        return self._arm(action="disconnect", api=api, when="after" if after else "before", times=times, **more)

    def _arm(self, **fields: Any) -> RuleHandle:
        from kafkadouble.server.faults.rule import Rule

        return self.arm(Rule.of(**fields))

    def _disarm(self, disarm: Callable[[], None]) -> None:
        self._on_thread(self._known(), disarm)
