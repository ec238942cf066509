"""The methods of KafkaDouble that arm, list and clear fault rules, of requests, connections, links
and disks alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.common.errors import UsageError
from kafkadouble.common.marking import attribute, verb
from kafkadouble.rules.rule_handle import RuleHandle, handle_of
from kafkadouble.server.faults.rule import Rule

if TYPE_CHECKING:
    from kafkadouble.host.host import Host


@verb
def arm(host: Host, rule: Rule | RuleHandle) -> RuleHandle:
    """Arms a fault rule, or the rule of a handle once more. Raises UsageError when it could never
    apply."""
    rule = rule.rule if isinstance(rule, RuleHandle) else rule
    if not isinstance(rule, Rule):
        raise UsageError(f"a rule is a Rule, not {rule!r}")
    return host.arm(rule)


@attribute
@verb
def rules(host: Host) -> list[RuleHandle]:
    """The armed rules, oldest first. A spent rule is not armed any more."""
    running = host.serving()
    armed = running.thread.call(lambda: list(running.broker.faults.register.rules))
    return [RuleHandle(running, each) for each in armed]


@verb
def remove_rule(host: Host, rule: RuleHandle | int) -> None:
    """Disarms a rule, given by its handle or its id, and releases everything that the rule holds. A
    second call for the same rule has no effect."""
    handle_of(host.known(), rule).remove()


@verb
def clear_rules(host: Host) -> None:
    """Disarms every fault rule, including rules that other callers armed, and releases everything
    that the rules hold."""
    host.serving().thread.call(lambda: host.serving().broker.clear_rules())


@attribute
@verb
def unused_rules(host: Host) -> list[Rule]:
    """The rules that have matched nothing since the start or the last reset, oldest first. Removed
    rules are included. The latest 1000 rules are remembered."""
    running = host.known()
    return running.on_thread(lambda: running.broker.faults.register.unused)


def arm_of(host: Host, action: str, **fields: Any) -> RuleHandle:
    """Arms a rule with this action."""
    return host.double.arm(Rule.of(action, **fields))
