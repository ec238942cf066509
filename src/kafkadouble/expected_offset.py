"""Conditional publish for clients in Python (KIP-27): set the offset that a record must get, and
read the refusal when the log ends elsewhere.

    # kafka-python, aiokafka (confluent-kafka: `produce` instead of `send`)
    producer.send("log", value, headers=[expected_offset.header(42)])

    # aiokafka, a whole batch
    batch = producer.create_batch()
    batch.append(key=None, value=b"...", timestamp=None)
    await (await producer.send_batch(expected_offset.expect(batch, 42), "log", partition=0))

The topic must have `produce.expected.offset` set. On any other topic, and on every topic of Apache
Kafka, the HEADER IS IGNORED and the record is appended at the end of the log; a batch with an
expected offset in its own header (`expect`, `patch`) is refused there. This module imports no
client library: it recognizes their objects by their attributes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.server.log.expected_offset import ANY, EMPTY, HEADER, LARGEST, MISMATCH, REFUSED

from .common.errors import UsageError

__all__ = [
    "ANY",
    "EMPTY",
    "HEADER",
    "ConditionalPublishError",
    "ExpectationRefused",
    "ExpectedOffsetMismatch",
    "UntoldRefusal",
    "expect",
    "header",
    "patch",
    "patched",
    "refusal",
]

T = TypeVar("T")

MAGIC, MAGIC_AT, SMALLEST = 2, 16, 61
"""The magic of a record batch in the current format, the position of the magic byte, and the length
of the batch header in bytes."""

_MISMATCH = re.compile(re.escape(MISMATCH).replace(r"\{expected\}", r"(-?\d+)").replace(r"\{actual\}", r"(\d+)"))
_REFUSED = re.compile(
    re.escape(REFUSED) + r".*|header " + re.escape(HEADER) + r" is .*|base offset -\d+ is no .*|no expected offset, .*"
)


class ConditionalPublishError(Exception):
    """A batch was refused because of its expected offset. Nothing of it was appended."""


class ExpectedOffsetMismatch(ConditionalPublishError):
    """The log did not end at the expected offset: the record was to get `expected`, and would have
    got `actual`."""

    def __init__(self, expected: int, actual: int) -> None:
        super().__init__(MISMATCH.format(expected=expected, actual=actual))
        self.expected, self.actual = expected, actual


class ExpectationRefused(ConditionalPublishError):
    """The expected offset of the batch is invalid: it cannot be read, contradicts itself, or is
    missing where the topic requires it."""


class UntoldRefusal(ConditionalPublishError):
    """INVALID_RECORD without a reason: confluent-kafka and aiokafka do not pass the reason on. The
    application can ask the broker for the end of the log."""


def header(offset: int) -> tuple[str, bytes]:
    """The record header that expects its record at `offset`; ANY for any offset, EMPTY for a log
    that never had a record."""
    return HEADER, str(_checked(offset)).encode()


def patch(batch: bytearray | memoryview, offset: int) -> None:
    """Writes the expected offset of the first record into a finished batch, compressed or not. The
    checksum stays correct.

    Every client writes 0 by default. So 0 means an empty log where the topic requires an expected
    offset, and has no meaning where it is optional.
    """
    if len(batch) < SMALLEST or batch[MAGIC_AT] != MAGIC:
        raise UsageError(f"{len(batch)} bytes are no record batch of magic 2")
    batch[:8] = _checked(offset).to_bytes(8, "big", signed=True)


def patched(batch: bytes | bytearray | memoryview, offset: int) -> bytes:
    """A copy of a finished batch that is expected at `offset`; see `patch`."""
    copied = bytearray(batch)
    patch(copied, offset)
    return bytes(copied)


def expect(builder: T, offset: int) -> T:
    """Sets the expected offset of a batch that is being built, and returns the builder.

    `builder` is aiokafka's BatchBuilder, which can be sent later, or kafka-python's
    MemoryRecordsBuilder, which this call closes. Raises UsageError for anything else.
    """
    _checked(offset)
    made: Any = builder
    if hasattr(made, "_build"):
        made._build = _patching(made._build, offset)
    elif hasattr(made, "close") and hasattr(made, "buffer"):
        made.close()
        patch(made.buffer(), offset)
    else:
        raise UsageError(f"{builder!r} builds no batch that is known here")
    return builder


def _patching(build: Callable[[], bytearray], offset: int) -> Callable[[], bytearray]:
    def built() -> bytearray:
        batch = build()
        patch(batch, offset)
        return batch

    return built


def _checked(offset: int) -> int:
    if isinstance(offset, bool) or not isinstance(offset, int) or not ANY <= offset <= LARGEST:
        raise UsageError(f"{offset!r} is no expected offset: an offset, or {ANY} for any")
    return offset


def refusal(error: object) -> ConditionalPublishError | None:
    """The meaning of a failed publish, or None if it failed for another reason.

    `error` is the exception of kafka-python, aiokafka or confluent-kafka, the error of a delivery
    report, a KafkaError of this package, or a partition of a ProduceResponse. aiokafka has no name
    for INVALID_RECORD, so its UnknownError counts as INVALID_RECORD.
    """
    parts = list(_parts(error))
    text = "\n".join(_texts(parts))
    if found := _MISMATCH.search(text):
        return ExpectedOffsetMismatch(int(found[1]), int(found[2]))
    if found := _REFUSED.search(text):
        return ExpectationRefused(found[0].removeprefix(REFUSED))
    if any(_code(part) == error_codes.INVALID_RECORD or _is_unnamed(part) for part in parts):
        return UntoldRefusal("INVALID_RECORD without a reason")
    return None


def _parts(error: object) -> Iterator[object]:
    """The error, and the errors inside it."""
    yield error
    if isinstance(error, BaseException):
        yield from (
            each for each in (*error.args, error.__cause__) if each is not None and not isinstance(each, int | bytes)
        )


def _texts(parts: list[object]) -> Iterator[str]:
    for part in parts:
        yield str(getattr(part, "error_message", None) or part)


def _code(part: object) -> int | None:
    """The number of the error; each client library has its own attribute for it."""
    for name in ("error_code", "errno", "code"):
        found = getattr(part, name, None)
        found = found() if callable(found) else found
        if isinstance(found, int):
            return found
    return None


def _is_unnamed(part: object) -> bool:
    return type(part).__name__ == "UnknownError" and type(part).__module__.startswith("aiokafka.")
