"""The holders of fault rules: a broker that is alone, or a cluster whose brokers share the
rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.server.faults import REQUEST

if TYPE_CHECKING:
    from kafkadouble.server.faults.armed import Armed
    from kafkadouble.server.faults.plane import Faults
    from kafkadouble.server.faults.rule import Rule


class RuleHolder:
    """Holds fault rules in `faults`. Everything here runs on the loop's thread."""

    if TYPE_CHECKING:

        @property
        def faults(self) -> Faults:
            """The rules of all its nodes."""

        @property
        def is_serving(self) -> bool:
            """Whether it was started, and not stopped since: only then anything follows rules."""

        @property
        def node_ids(self) -> list[int]:
            """The nodes between which there are links."""

        @property
        def disk_paths(self) -> list[str]:
            """The log directories that rules may fail; none in memory."""

        def rules_changed(self) -> None:
            """Rules were armed or taken out of force: connections, links and disks follow them."""

        def settle(self) -> None:
            """Processes everything that is due."""

    def arm(self, rule: Rule) -> Armed:
        """Puts a fault rule in force. UsageError when it could never apply."""
        armed = self.faults.arm(rule)
        if rule.plane != REQUEST:
            self.rules_changed()
        return armed

    def disarm(self, armed: Armed) -> None:
        """Takes a fault rule out of force; what it holds goes on."""
        is_of_requests = armed.rule.plane == REQUEST
        holds = len(armed.paused) > 0 or not is_of_requests
        self.faults.disarm(armed)
        if not self.is_serving:
            return
        if not is_of_requests:
            self.rules_changed()
        if holds:
            self.settle()

    def clear_rules(self) -> None:
        """Takes every fault rule out of force."""
        self.faults.clear()
        self.rules_changed()
        self.settle()
