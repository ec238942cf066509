"""The handle of an armed fault rule, and the check before a rule is armed."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING

from kafkadouble.server.faults.armed import Armed
from kafkadouble.server.faults.rule import EVERY_API, Rule

from .errors import UsageError

if TYPE_CHECKING:
    from .broker import Broker
    from .cluster import Cluster


def check(rule: Rule, broker: Broker | Cluster) -> None:
    """Raises UsageError for a rule that could never apply: its broker or its listener does not
    exist."""
    _check_listener(rule, broker)
    id = rule.match.broker
    if id is None or broker.member(id) is not None or (broker.controlling is broker and broker.node.id == id):
        return
    raise UsageError(f"there is no broker {id} that a rule could hold at")


def _check_listener(rule: Rule, broker: Broker | Cluster) -> None:
    has_other_nodes = broker.controlling is not broker
    if rule.match.api == EVERY_API or broker.controller is not None or (rule.match.peers and has_other_nodes):
        return
    from kafkadouble.server.apis.served import CONTROLLER_TABLE, TABLE

    if rule.match.api not in {served.name for served in TABLE} and rule.match.api in {
        served.name for served in CONTROLLER_TABLE
    }:
        raise UsageError(
            f"{rule.match.api} is served to controllers only, and no client reaches them: give controller_port=0"
        )


class RuleHandle:
    """An armed fault rule. In a `with` statement, it is removed at the end of the block."""

    def __init__(self, on_thread: Callable[[Callable[[], None]], None], broker: Broker | Cluster, armed: Armed) -> None:
        self._on_thread, self._broker, self._armed = on_thread, broker, armed

    @property
    def rule(self) -> Rule:
        """The rule as a value."""
        return self._armed.rule

    @property
    def hits(self) -> int:
        """The number of requests that the rule was applied to."""
        return self._armed.hits

    @property
    def spent(self) -> bool:
        """Whether the rule was applied the full number of times."""
        return self._armed.spent

    def wait(self, hits: int = 1, timeout: float = 10) -> None:
        """Waits until the rule was applied to so many requests. `timeout` is in seconds. Raises
        TimeoutError, which says how many requests matched."""
        reached = Event()

        def check() -> None:
            if self._armed.hits >= hits:
                reached.set()

        def listen() -> None:
            self._armed.on_hit.append(check)
            check()

        self._on_thread(listen)
        try:
            if not reached.wait(timeout):
                met = f"{self._armed.met} requests matched"
                raise TimeoutError(f"{self!r}, not {hits} times within {timeout:g} s; {met}")
        finally:
            self._on_thread(lambda: self._armed.on_hit.remove(check))

    def release(self) -> None:
        """Lets the requests go on that the rule holds, and disarms it."""
        self.remove()

    def remove(self) -> None:
        """Disarms the rule, and lets the requests go on that it holds. It may be called again, and
        after a reset or a stop."""
        self._on_thread(lambda: self._broker.disarm(self._armed))

    def __enter__(self) -> RuleHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return repr(self._armed)
