"""The methods of KafkaDouble that arm, list and clear fault rules, of requests, connections, links
and disks alike."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

from kafkadouble.common.errors import UsageError
from kafkadouble.engine.verb_host import VerbHost

if TYPE_CHECKING:
    from kafkadouble.rules.rule_handle import RuleHandle
    from kafkadouble.server.faults.rule import Rule


T = TypeVar("T")


class ArmingVerbs(VerbHost):
    """A part of KafkaDouble."""

    _function_errors: deque[tuple[Rule, list[BaseException]]]
    """The rules with a function that were armed so far, the latest 1000, and their exceptions. They
    outlive a stop and a reset, so that none is lost."""

    def arm(self, rule: Rule | RuleHandle) -> RuleHandle:
        """Arms a fault rule, or once more that of a handle. Raises UsageError when it could never
        apply."""
        from kafkadouble.rules.rule_handle import RuleHandle, check
        from kafkadouble.server.faults.rule import Rule, checked

        rule = rule.rule if isinstance(rule, RuleHandle) else rule
        if not isinstance(rule, Rule):
            raise UsageError(f"a rule is a Rule, not {rule!r}")

        running = self._serving()

        def arm() -> RuleHandle:
            check(checked(rule), running.broker)
            return RuleHandle(running, running.broker.arm(rule))

        handle = running.thread.call(arm)
        if rule.has_function:
            self._function_errors.append((rule, handle.errors))
        return handle

    @property
    def rules(self) -> list[RuleHandle]:
        """The armed rules, oldest first. A spent rule is not armed any more."""
        from kafkadouble.rules.rule_handle import RuleHandle

        running = self._serving()
        armed = running.thread.call(lambda: list(running.broker.faults.register.rules))
        return [RuleHandle(running, each) for each in armed]

    def remove_rule(self, rule: RuleHandle | int) -> None:
        """Disarms a rule, given by its handle or its id, and lets go on what it holds. It may be
        called again for the same rule."""
        from kafkadouble.rules.rule_handle import handle_of

        handle_of(self._known(), rule).remove()

    def clear_rules(self) -> None:
        """Disarms every fault rule, including those that other callers armed, and lets go on what a
        rule holds."""
        self._serving().thread.call(lambda: self._serving().broker.clear_rules())

    @property
    def unused_rules(self) -> list[Rule]:
        """The rules that were armed since the start or the last reset and that nothing has matched
        so far, armed or already removed, oldest first. The latest 1000 are remembered."""
        running = self._known()
        return running.on_thread(lambda: running.broker.faults.register.unused)

    def _arm(self, action: str, **fields: Any) -> RuleHandle:
        from kafkadouble.server.faults.rule import Rule

        return self.arm(Rule.of(action, **fields))
