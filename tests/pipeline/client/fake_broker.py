"""A broker in a thread that answers as a test prescribes: with our codecs or with meaningless
bytes, over TLS if the test gives a context."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Self

from kafkadouble.messages import headers, registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.api_versions import ApiVersionsResponse
from kafkadouble.messages.generated.metadata import MetadataResponse
from kafkadouble.messages.headers import RequestHead
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.frame import MAX_SIZE

TOPIC_ID = Uuid(b"a topic that is!")

Answer = Message | bytes | None
"""A response, or bytes that are sent unchanged; None closes the connection."""

Handler = Callable[[Any, RequestHead], Answer]


class FakeBroker:
    """`handlers` maps API keys to handlers; a Metadata handler that knows the topic `t` with one
    partition is already there. `seen` holds the requests."""

    def __init__(
        self,
        handlers: Mapping[int, Handler],
        versions: Mapping[int, tuple[int, int]] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.handlers = {ApiKeys.API_VERSIONS: self._versions, ApiKeys.METADATA: self._metadata, **handlers}
        self.versions = dict(versions or {})
        self.seen: list[tuple[RequestHead, Any]] = []
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._connections: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._begin(self._accept)
        return self

    def __exit__(self, *exc: object) -> None:
        for sock in (self._listener, *self._connections):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
        for thread in self._threads:
            thread.join(30)

    def _begin(self, what: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=what, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                sock = self._listener.accept()[0]
            except OSError:
                return
            self._connections.append(sock)
            self._begin(self._serve, sock)

    def _serve(self, sock: socket.socket) -> None:
        try:
            if self._tls is not None:
                sock = self._tls.wrap_socket(sock, server_side=True)
                self._connections.append(sock)
            while (frame := _frame(sock)) and (answer := self._answer(frame)) is not None:
                sock.sendall(answer)
        except OSError:
            pass
        finally:
            sock.close()

    def _answer(self, frame: bytes) -> bytes | None:
        head = headers.read_request_header(frame)
        body = registry.api(head.api_key).request.decode(frame, head.api_version, head.body_offset)
        self.seen.append((head, body))
        answer = self.handlers[head.api_key](body, head)
        if not isinstance(answer, Message):
            return answer
        return b"".join(headers.write_response(answer, head.correlation_id, head.api_key, head.api_version))

    def _versions(self, body: Any, head: RequestHead) -> Answer:
        of = ApiVersionsResponse.ApiVersion
        known = {api.key: api.stable_versions for api in registry.apis() if not api.retired} | self.versions
        keys = [of(api_key=key, min_version=low, max_version=high) for key, (low, high) in known.items()]
        return ApiVersionsResponse(api_keys=keys)

    def _metadata(self, body: Any, head: RequestHead) -> Answer:
        return metadata(self.port)


def metadata(port: int, epoch: int = 0, **partition: Any) -> MetadataResponse:
    """A cluster of one broker, which leads the only partition of `t`."""
    of = MetadataResponse
    broker = of.MetadataResponseBroker(node_id=1, host="127.0.0.1", port=port)
    led = of.MetadataResponsePartition(leader_id=1, leader_epoch=epoch, replica_nodes=[1], isr_nodes=[1], **partition)
    return of(brokers=[broker], topics=[of.MetadataResponseTopic(name="t", topic_id=TOPIC_ID, partitions=[led])])


def _frame(sock: socket.socket) -> bytes:
    """The next frame; empty if the bytes announce more than MAX_SIZE."""
    size = int.from_bytes(_exactly(sock, 4), "big")
    return _exactly(sock, size) if size <= MAX_SIZE else b""


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise ConnectionError
        data += more
    return data
