"""Many requests of one client, for streams that follow them."""

from __future__ import annotations

import socket

from kafkadouble import KafkaDouble
from kafkadouble.messages import headers
from kafkadouble.messages.generated.metadata import MetadataRequest

AT_A_TIME = 500


def flood(kafka: KafkaDouble, count: int) -> None:
    """This many requests on one connection."""
    frame = b"".join(map(bytes, headers.write_request(MetadataRequest(topics=[]), 1, "flood", 12)))
    with socket.create_connection(("127.0.0.1", kafka.port), 30) as sock:
        sock.sendall(frame)
        size = len(sock.recv(1 << 16))
        for _ in range(count // AT_A_TIME):
            sock.sendall(frame * AT_A_TIME)
            left = size * AT_A_TIME
            while left:
                left -= len(sock.recv(min(left, 1 << 16)))
