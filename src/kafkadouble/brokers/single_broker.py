"""The handle of a broker that is the whole cluster. Operations that need another node are
refused."""

from __future__ import annotations

from typing import Any

from kafkadouble.common.errors import UsageError
from kafkadouble.common.listening import text_of
from kafkadouble.common.start_options import TWO_BROKERS
from kafkadouble.engine.broker import Broker
from kafkadouble.engine.running import Running

from . import membership
from .broker_handle import BrokerHandle


class SingleBrokerHandle(BrokerHandle):
    """The only broker of a KafkaDouble."""

    @property
    def bootstrap(self) -> str:
        return text_of(*self._only()[1].addresses()[0])

    def bootstrap_on(self, listener: str) -> str:
        return text_of(*self._only()[1].addresses(listener)[0])

    @property
    def running(self) -> bool:
        return not self._only()[1].is_down

    @property
    def metrics(self) -> dict[str, Any]:
        self._check_running("it has no metrics")
        running, broker = self._only()
        return running.thread.call(broker.node.snapshot_generator.readings)

    def kill(self) -> None:
        """Ends the broker without notice, as `kill -9` does; its data stays for its next start."""
        running, broker = self._only()
        running.thread.run(broker.kill())

    def stop(self) -> None:
        """Shuts the broker down in order, as `KafkaDouble.down` does."""
        running, broker = self._only()
        running.thread.run(membership.down(broker, None))

    def start(self) -> None:
        """Starts the broker on its data, behind the same port, as `KafkaDouble.up` does."""
        running, broker = self._only()
        running.thread.run(membership.up(broker, None))

    def pause(self) -> None:
        self._check_running("there is nothing to pause")
        self._pause(True)

    def resume(self) -> None:
        self._pause(False)

    def isolate(self) -> None:
        """Refused: there is no other node."""
        raise UsageError("a single broker cannot be isolated: give {option} or more", option=TWO_BROKERS)

    def join(self) -> None:
        """Does nothing: it is never isolated."""
        self._only()

    def _pause(self, paused: bool) -> None:
        running, broker = self._only()
        running.thread.call(broker.pause, paused)

    def _check_running(self, consequence: str) -> None:
        if not self.running:
            raise UsageError(f"broker {self.id} does not run: {consequence}")

    def _only(self) -> tuple[Running, Broker]:
        running = self._serving()
        assert isinstance(running.broker, Broker)
        return running, running.broker

    def __repr__(self) -> str:
        _, broker = self._only()
        state = "not running" if broker.is_down else "paused" if broker.is_paused else "running"
        return f"<broker {self.id} at {self.bootstrap}, {state}>"
