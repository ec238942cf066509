"""The methods of KafkaDouble about the double itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.common.marking import verb
from kafkadouble.engine.verb_host import VerbHost

if TYPE_CHECKING:
    from kafkadouble.common.step_outcome import StepOutcome
    from kafkadouble.engine.broker import Broker
    from kafkadouble.engine.cluster import Cluster
    from kafkadouble.seen.telemetry import TelemetryCollector


class DoubleVerbs(VerbHost):
    """A part of KafkaDouble."""

    _telemetry: TelemetryCollector | None

    if TYPE_CHECKING:

        def _restore_clock(self) -> None:
            """Let the clock go as at first."""

        async def _with_users(self, broker: Broker | Cluster) -> None:
            """Have the users of the start."""

        def _apply_scenario(self) -> None:
            """Begin with the scenario, if there is one."""

    @verb
    def reset(self) -> None:
        """Restarts the cluster empty: without topics, groups, rules and requests, with every
        connection closed, every broker running, and a clock that was frozen or scaled as it was at
        first. Ports and cluster id stay, so clients that connect again find the empty cluster. Then
        the scenario is applied again, if there is one. Clients that are members of a group learn
        that it rebalances: their commits succeed, and are not kept, until they have joined
        again."""
        running = self._serving()
        with running.replacing:
            self._end_steps()
            self._restore_clock()
            running.thread.run(self._reset(running.broker))
            self._apply_scenario()

    async def _reset(self, broker: Broker | Cluster) -> None:
        await broker.reset()
        if self._telemetry is not None:
            self._telemetry.clear()
        await self._with_users(broker)

    @property
    @verb
    def scenario_steps(self) -> list[StepOutcome]:
        """The steps of the scenario since the last start or reset, each with its state: pending,
        done or failed, with its error. Works after a stop too."""
        return [] if self._steps is None else self._steps.outcomes
