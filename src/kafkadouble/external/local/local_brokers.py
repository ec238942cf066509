"""The only broker of a Kafka on this machine, as `KafkaDouble.brokers` has it."""

from __future__ import annotations

from collections.abc import Callable

from kafkadouble.common.errors import UsageError
from kafkadouble.external.remote.served import OnlyOnDoubleAttribute

from .local_kafka import LocalKafka

ONLY = 1


class LocalBrokers(dict[int, "LocalBroker"]):
    """The broker, by its id. Raises UsageError for another id."""

    def __missing__(self, id: object) -> LocalBroker:
        raise UsageError(f"there is no broker {id!r}: ids are {ONLY}")


class LocalBroker:
    """The process of the broker. `bootstrap_on` gives its address on a listener; `restarted` is
    called once it serves again."""

    id = ONLY

    def __init__(self, process: LocalKafka, bootstrap_on: Callable[[str], str], restarted: Callable[[], None]) -> None:
        self._process, self._restarted = process, restarted
        self.bootstrap_on = bootstrap_on

    @property
    def bootstrap(self) -> str:
        """HOST:PORT of this broker; it stays the same after a restart."""
        return self.bootstrap_on(self._process.settings.listeners[0].name)

    @property
    def running(self) -> bool:
        """Whether the process runs; a paused one does, too."""
        return self._process.running

    def kill(self) -> None:
        """Ends the broker without notice, by SIGKILL; its data stays."""
        self._process.kill()

    def stop(self) -> None:
        """Shuts the broker down in order, by SIGTERM."""
        self._process.stop()

    def start(self) -> None:
        """Starts the broker on its old data, behind the same port, and waits until it serves. After
        a kill that takes as long as the session of its previous incarnation."""
        self._process.start()
        self._restarted()

    def pause(self) -> None:
        """Pauses the process, by SIGSTOP. Raises UsageError if the broker does not run."""
        self._process.pause()

    def resume(self) -> None:
        """Ends the pause."""
        self._process.resume()

    def __repr__(self) -> str:
        return f"<broker {ONLY}: {self._process!r}>"


for _name in ("metrics", "isolate", "join"):
    setattr(LocalBroker, _name, OnlyOnDoubleAttribute(f"brokers[{ONLY}].{_name}"))
