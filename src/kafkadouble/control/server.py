"""Serves the control plane of a double on a thread of its own, between `start` and `stop`.

with KafkaDouble() as kafka, ControlServer(kafka) as control:
    print(control.url)
"""

from __future__ import annotations

import threading
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kafkadouble.common.errors import UsageError
from kafkadouble.common.listening import listen, text_of
from kafkadouble.common.on_first_use import OnFirstUse

from .http.guard import Guard
from .http.hosts import AllowedHosts, check_host_names, is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterable
    from socket import socket

    from kafkadouble.control.http import http_server
    from kafkadouble.verbs.double_api import DoubleApi

    from . import app
else:  # a start waits for none of them
    app = OnFirstUse("kafkadouble.control.app")
    http_server = OnFirstUse("kafkadouble.control.http.http_server")

MISSING = "the control plane needs more libraries: pip install 'kafkadouble[control]'"


def is_installed() -> bool:
    """Whether the libraries of the extra are there."""
    return all(find_spec(name) is not None for name in ("prometheus_client", "starlette", "uvicorn"))


def check_reach(host: str, token: str | None) -> None:
    """Raises UsageError for an address that other machines reach without a token."""
    if token is None and not is_loopback(host):
        raise UsageError(f"the control plane at {host} would obey every machine that reaches it: give a token")
    if token is not None and (not token.isascii() or not token.isprintable() or " " in token or len(token) < 8):
        raise UsageError("a token has at least 8 printable ASCII characters, without spaces")


class ControlServer:
    """The control plane of one double. `port` 0 means any free port. `allowed_hosts` are more names
    that the Host header may have. Raises UsageError for an address that other machines reach
    without a token, and OSError if the port is in use."""

    def __init__(
        self,
        kafka: DoubleApi,
        port: int = 0,
        host: str = "127.0.0.1",
        token: str | None = None,
        *,
        sock: socket | None = None,
        allowed_hosts: Iterable[str] = (),
    ) -> None:
        allowed_hosts = list(allowed_hosts)
        check_reach(host, token)
        check_host_names(allowed_hosts)
        if not is_installed():
            raise UsageError(MISSING)
        hosts = AllowedHosts([host, *allowed_hosts], has_token=token is not None)
        self._kafka, self._guard, self._host = kafka, Guard(token, hosts), host
        self._sock = listen(host, port) if sock is None else sock
        self.port = int(self._sock.getsockname()[1])
        self._server: Any = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address for clients."""
        return f"http://{text_of(self._host, self.port)}"

    def start(self) -> ControlServer:
        """Serves from now on."""
        self._server = http_server.HttpServer(app.ControlApp(self._kafka, self._guard).asgi, self._sock)
        self._thread = threading.Thread(target=self._server.run, name="kafkadouble-control", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Ends it; more than once is no error."""
        if self._thread is not None:
            self._server.should_exit = True
            self._thread.join()
            self._thread = None
        self._sock.close()

    def __enter__(self) -> ControlServer:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<control plane of {self._kafka!r}>"
