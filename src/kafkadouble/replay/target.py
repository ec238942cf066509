"""The Kafka that a recording is replayed against: its brokers, and connections to them."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Mapping, Sequence

from kafkadouble.messages.generated.metadata import MetadataRequest, MetadataResponse
from kafkadouble.messages.message import Message
from kafkadouble.server.client.client_connection import BadPeer, ClientConnection
from kafkadouble.server.client.steps import driven_async
from kafkadouble.wire.errors import UsageError

from .recorded.exchange import SIZE
from .target_security import LOGIN_VERSION, PLAINTEXT, LoginRefused, TargetSecurity

CLIENT_ID = "kafkadouble-replay"
METADATA_VERSION = 9
"""A version that every Kafka since 2.4 serves."""

LARGEST = 1 << 30
"""The largest answer that is read, in bytes."""


class TargetError(Exception):
    """The target cannot be reached, or does not speak the protocol."""


Address = tuple[str, int]


def parsed(text: str) -> Address:
    """HOST:PORT. Raises UsageError."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise UsageError(f"a target is HOST:PORT, not {text!r}")
    return host.strip("[]"), int(port)


class TargetConnection:
    """A connection to the target: frames out, frames in."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._protocol = ClientConnection(CLIENT_ID)

    @classmethod
    async def open(cls, address: Address, patience: float, security: TargetSecurity = PLAINTEXT) -> TargetConnection:
        """A connection that is authenticated. Raises TargetError."""
        name, (host, port) = f"{address[0]}:{address[1]}", address
        try:
            streams = await asyncio.wait_for(asyncio.open_connection(host, port, ssl=security.tls), patience)
        except ssl.SSLCertVerificationError as problem:
            why = f"shows a certificate that is not trusted: {problem.verify_message}; look at ssl.truststore.location"
            raise TargetError(f"{name} {why}") from None
        except ssl.SSLError as problem:
            raise TargetError(f"no TLS with {name}: {problem.reason or problem}; does it listen for TLS?") from None
        except (OSError, TimeoutError) as problem:
            raise TargetError(f"{name} cannot be reached: {problem or 'no answer'}") from None
        made = cls(*streams)
        try:
            await driven_async(security.login_steps(), lambda step: made.ask(step.body, LOGIN_VERSION, patience))
        except (LoginRefused, OSError, EOFError, TimeoutError, BadPeer) as problem:
            await made.close()
            why = str(problem) if isinstance(problem, LoginRefused) else f"ends the login: {problem!r}"
            raise TargetError(f"{name} {why}") from None
        return made

    async def ask(self, request: Message, version: int, patience: float) -> Message:
        """The answer to a request, while no other one is under way. Raises OSError, EOFError,
        TimeoutError, BadPeer."""
        await self.send(b"".join(self._protocol.send(request, version)))
        frame = await asyncio.wait_for(self.receive(), patience)
        return self._protocol.receive(frame[SIZE:])

    async def send(self, frame: bytes) -> None:
        """Sends a frame with its size in front. Raises OSError when the connection is closed."""
        self._writer.write(frame)
        await self._writer.drain()

    async def receive(self) -> bytes:
        """The next frame, with its size. Raises OSError or EOFError when the connection is closed,
        and TargetError for a size that no answer has."""
        size = await self._reader.readexactly(SIZE)
        length = int.from_bytes(size, "big", signed=True)
        if not 0 <= length <= LARGEST:
            raise TargetError(f"an answer of {length} bytes: this is no Kafka")
        return size + await self._reader.readexactly(length)

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


async def asked(
    address: Address, request: Message, version: int, patience: float, security: TargetSecurity = PLAINTEXT
) -> Message:
    """The answer to one request on a connection of its own. Raises TargetError."""
    connection = await TargetConnection.open(address, patience, security)
    try:
        return await connection.ask(request, version, patience)
    except (OSError, EOFError, TimeoutError, BadPeer) as problem:
        hint = "; is its protocol PLAINTEXT? --client-config has other ones" if security is PLAINTEXT else ""
        raise TargetError(f"{address[0]}:{address[1]} does not answer as Kafka does: {problem!r}{hint}") from None
    finally:
        await connection.close()


async def brokers_of(address: Address, patience: float, security: TargetSecurity = PLAINTEXT) -> dict[int, Address]:
    """The brokers that the target names, by node id. Raises TargetError."""
    answer = await asked(address, MetadataRequest(topics=[]), METADATA_VERSION, patience, security)
    assert isinstance(answer, MetadataResponse)
    if not answer.brokers:
        raise TargetError(f"{address[0]}:{address[1]} names no brokers")
    return {broker.node_id: (broker.host, broker.port) for broker in answer.brokers}


def paired_nodes(recorded: Sequence[int], found: Mapping[int, Address]) -> dict[int, int]:
    """The node that stands for each recorded one: the same id, else the same place in the order;
    one broker stands for all. Raises UsageError when the counts differ otherwise."""
    if len(found) == 1:
        return dict.fromkeys(recorded, next(iter(found)))
    if set(recorded) <= set(found):
        return {node: node for node in recorded}
    if len(recorded) != len(found):
        raise UsageError(
            f"the recording has the brokers {_listed(recorded)}, the target has {_listed(sorted(found))}: "
            "the target must have as many, or only one"
        )
    return dict(zip(sorted(recorded), sorted(found), strict=True))


def _listed(nodes: Sequence[int]) -> str:
    return ", ".join(map(str, nodes))
