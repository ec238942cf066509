"""Brokers and the thread in which they run, from one start to one stop. Nothing here knows the KafkaDouble, which can thus be collected."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.network.clock import Clock
from kafkadouble.server.network.thread import LoopThread

from .broker import Broker
from .errors import UsageError
from .listening import listen

if TYPE_CHECKING:
    from kafkadouble.server.tracing.capture import Capture

    from . import capturing
    from .capturing import Capturing
    from .cluster import Cluster
    from .data_dirs import DataDirs


LAST_PORT = 65535
PathLike = str | os.PathLike[str]


def ports_of(port: int, brokers: int) -> list[int]:
    """One for each of so many brokers, from this one on; 0 for any. UsageError for what cannot be."""
    checked_port("port", port)
    if type(brokers) is not int or brokers < 1 or (port and port + brokers - 1 > LAST_PORT):
        raise UsageError(f"brokers is {brokers!r}: there is one at least, and a port for each")
    return [port and port + index for index in range(brokers)]


def checked_port(name: str, port: int | None) -> int | None:
    """UsageError for one that there is not."""
    if port is not None and (type(port) is not int or not 0 <= port <= LAST_PORT):
        raise UsageError(f"{name} is {port!r}: there are ports 1 to {LAST_PORT}, and 0 for any free one")
    return port


def paths_of(data_dir: PathLike | Sequence[PathLike] | None) -> list[str]:
    """The paths of one directory, of several, or of none."""
    if data_dir is None:
        return []
    paths = [data_dir] if isinstance(data_dir, str | os.PathLike) else data_dir
    try:
        return [os.fspath(path) for path in paths]
    except TypeError:
        raise UsageError(f"data_dir is a path, or several, not {data_dir!r}") from None


def capture_of(path: PathLike | None, bodies: bool) -> capturing.Wanted | None:
    """Where traffic is to be captured, if it is. UsageError for bodies that go nowhere."""
    if path is None:
        if bodies:
            raise UsageError("capture_bodies without capture: say where they go")
        return None
    from .capturing import Wanted

    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"capture is a path, not {path!r}")
    return Wanted(os.fspath(path), bodies)


class Wanted(NamedTuple):
    """What is to run: a port for each broker, 0 for any; no `controller_port` where nobody else reaches the controller."""

    host: str
    ports: Sequence[int]
    settings: Settings
    clock: Clock
    seed: int | None
    data_dirs: Sequence[str]
    controller_port: int | None
    capture: capturing.Wanted | None = None


class Running:
    """`broker` is the only one, or stands for all of a cluster."""

    broker: Broker | Cluster

    def __init__(self, wanted: Wanted) -> None:
        socks: list[socket.socket] = []
        self._capturing = _begun(wanted.capture)
        self.thread = LoopThread("kafkadouble")
        self._data: DataDirs | None = None
        try:
            socks += [listen(wanted.host, port) for port in wanted.ports]
            controllers = None
            if wanted.controller_port is not None:
                controllers = listen(wanted.host, wanted.controller_port)
                socks.append(controllers)
            if len(wanted.ports) > 1:
                self._begin_cluster(wanted, socks[: len(wanted.ports)], controllers)
            else:
                self._begin(wanted, socks[0], controllers)
            self.thread.run(self.broker.start())
        except BaseException:
            self._fail(socks)
            raise

    def _begin(self, wanted: Wanted, sock: socket.socket, controllers: socket.socket | None) -> None:
        if wanted.data_dirs:
            from .data_dirs import DataDirs
            from .member_data import check_count

            check_count(wanted.data_dirs, 1)
            self._data = DataDirs(wanted.data_dirs, wanted.settings.int("node.id"), wanted.clock.now())
        self.thread.start()
        self.broker = self.thread.call(
            Broker,
            wanted.settings,
            sock,
            wanted.clock,
            controllers=controllers,
            seed=wanted.seed,
            data=self._data,
            capture=self._capture,
        )

    def _begin_cluster(self, wanted: Wanted, socks: Sequence[socket.socket], controllers: socket.socket | None) -> None:
        from .cluster import Cluster

        self.thread.start()
        self.broker = self.thread.call(
            Cluster,
            wanted.settings,
            socks,
            wanted.clock,
            controllers=controllers,
            seed=wanted.seed,
            data_dirs=wanted.data_dirs,
            capture=self._capture,
        )

    @property
    def _capture(self) -> Capture | None:
        return None if self._capturing is None else self._capturing.capture

    def _fail(self, socks: Sequence[socket.socket]) -> None:
        if hasattr(self, "broker") and self.thread.running and len(self.broker.addresses) > 1:
            self.thread.run(self.broker.stop())
        self.thread.stop()
        for sock in socks:
            sock.close()
        if self._data is not None:
            self._data.release()
        self._close_capture()

    def _close_capture(self) -> None:
        if self._capturing is not None:
            self._capturing.close()

    def stop(self) -> None:
        """End both; more than once is no error. The collector of garbage may call it on any thread, also on the loop's."""
        if self.thread.here:
            self._ending = asyncio.ensure_future(self._end())
            return
        try:
            if self.thread.running:
                self.thread.run(self.broker.stop())
        finally:
            self.thread.stop()
            self._close_capture()

    async def _end(self) -> None:
        await self.broker.stop()
        self.thread.stop()
        self._close_capture()


def _begun(wanted: capturing.Wanted | None) -> Capturing | None:
    if wanted is None:
        return None
    from .capturing import Capturing

    return Capturing(wanted)
