"""An HTTP server that gives a JWK set, as an issuer of tokens has one."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


class JwksServer:
    """`answers` are the next status, headers and body; the last one stays. While `is_silent`, no
    request is answered. `seen` counts requests."""

    def __init__(self, body: bytes, context: ssl.SSLContext | None = None) -> None:
        self.status, self.headers, self.body = 200, dict[str, str](), body
        self.seen, self._may_answer = 0, Event()
        self._may_answer.set()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                owner.seen += 1
                owner._may_answer.wait()
                self.send_response(owner.status)
                for name, value in owner.headers.items():
                    self.send_header(name, value)
                if "Transfer-Encoding" not in owner.headers:
                    self.send_header("Content-Length", str(len(owner.body)))
                self.end_headers()
                self.wfile.write(owner.body)

            def log_message(self, format: str, *args: object) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = False  # `close` waits for them
        self._server.handle_error = lambda request, client_address: None  # type: ignore[method-assign]  # the peer may leave
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        scheme = "http" if context is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}/keys"

    def be_silent(self, silent: bool) -> None:
        """Answers nothing until this is called again."""
        (self._may_answer.clear if silent else self._may_answer.set)()

    def close(self) -> None:
        self._may_answer.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def jwks_server(body: bytes, context: ssl.SSLContext | None = None) -> Iterator[JwksServer]:
    server = JwksServer(body, context)
    try:
        yield server
    finally:
        server.close()
