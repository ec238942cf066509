"""False answers to a replica, and false requests in its name. Every lie takes the dice, and a good
answer or request."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from struct import pack_into
from typing import Any

from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.raft.request_manager import RequestFailure
from kafkadouble.wire.batch import HEADER_SIZE, seal
from kafkadouble.wire.errors import WireError

from .mutations import MUTATIONS, framed

LyingAnswer = Message | RequestFailure
Lie = Callable[[Random, Any], Any]

OFFSETS = (-(2**63), -2, -1, 0, 1, 2, 3, 5, 17, 1000, 2**31, 2**62, 2**63 - 2, 2**63 - 1)
EPOCHS = (-(2**31), -2, -1, 0, 1, 2, 7, 2**31 - 1)
CODES = (1, 2, 3, 6, 41, 56, 70, 71, 74, 75, 76, 100, 103, 106, -1, 999)

FIELDS: tuple[tuple[int, str, tuple[int, ...]], ...] = (
    (0, ">q", OFFSETS),
    (8, ">i", (-1, 0, 13, 14, 48, 49, 50, 2**31 - 1)),
    (12, ">i", EPOCHS),
    (16, ">b", (-1, 0, 1, 2, 3, 127)),
    (17, ">I", (0, 1, 2**32 - 1)),
    (21, ">h", (0, 1, 4, 5, 7, 8, 0x10, 0x20, 0x30, 0x34, 0x40, -1)),
    (23, ">i", EPOCHS),
    (27, ">q", OFFSETS),
    (35, ">q", OFFSETS),
    (43, ">q", OFFSETS),
    (51, ">h", (-1, 0, 5, 2**15 - 1, -(2**15))),
    (53, ">i", EPOCHS),
    (57, ">i", EPOCHS),
)
"""Fields of a batch's header: the position, the layout, and values at the limits."""


def batch_fields(dice: Random, records: bytearray) -> bytes:
    """Changes fields of the first batch; the checksum is corrected, or is not."""
    if len(records) < HEADER_SIZE:
        return bytes(records)
    for _ in range(dice.choice((1, 1, 2, 3))):
        at, layout, values = dice.choice(FIELDS)
        pack_into(layout, records, at, dice.choice(values))
    if dice.random() < 0.7:
        seal(records)
    return bytes(records)


def batch_bytes(dice: Random, records: bytearray) -> bytes:
    for _ in range(dice.choice((1, 2, 8)) if records else 0):
        records[dice.randrange(len(records))] ^= 1 << dice.randrange(8)
    return bytes(records)


def batch_cut(dice: Random, records: bytearray) -> bytes:
    return bytes(records[: dice.randrange(len(records) + 1)])


def batch_twice(dice: Random, records: bytearray) -> bytes:
    return bytes(records) * 2


def any_bytes(dice: Random, records: bytearray) -> bytes:
    return dice.randbytes(dice.choice((0, 1, 11, 12, 17, 61, 300)))


OF_RECORDS = (batch_fields, batch_fields, batch_fields, batch_bytes, batch_bytes, batch_cut, batch_twice, any_bytes)


def records(dice: Random, answer: FetchResponse) -> LyingAnswer:
    for data in _data(answer):
        data.records = dice.choice(OF_RECORDS)(dice, bytearray(data.records or b""))
    return answer


def claims(dice: Random, answer: FetchResponse) -> LyingAnswer:
    """Changes the fields beside the records."""
    for data in _data(answer):
        name = dice.choice(("high_watermark", "log_start_offset", "last_stable_offset"))
        setattr(data, name, dice.choice(OFFSETS))
    return answer


def codes(dice: Random, answer: FetchResponse) -> LyingAnswer:
    for data in _data(answer):
        data.error_code = dice.choice(CODES)
    return answer


def out_of_range(dice: Random, answer: FetchResponse) -> LyingAnswer:
    """Makes the follower request the ends of the log, which get a false answer, too."""
    for data in _data(answer):
        data.error_code, data.records = 1, b""
    return answer


def divergence(dice: Random, answer: FetchResponse) -> LyingAnswer:
    for data in _data(answer):
        data.diverging_epoch = FetchResponse.EpochEndOffset(epoch=dice.choice(EPOCHS), end_offset=dice.choice(OFFSETS))
    return answer


def session(dice: Random, answer: FetchResponse) -> LyingAnswer:
    answer.session_id = dice.choice((-1, 0, 1, answer.session_id + 1, 2**31 - 1))
    return answer


def whole_code(dice: Random, answer: FetchResponse) -> LyingAnswer:
    answer.error_code = dice.choice(CODES)
    return answer


def topics(dice: Random, answer: FetchResponse) -> LyingAnswer:
    """Other topics and partitions, one twice, none."""
    for topic in answer.responses:
        if dice.random() < 0.5:
            topic.topic_id = Uuid(dice.randbytes(16))
        for data in topic.partitions:
            data.partition_index = dice.choice((-1, 0, 1, 2, 77, 2**31 - 1))
    if dice.random() < 0.3:
        answer.responses = [*answer.responses, *answer.responses]
    if dice.random() < 0.2:
        answer.responses = []
    return answer


OF_FETCHES: tuple[Lie, ...] = (
    records, records, records, records, claims, codes, out_of_range, out_of_range, out_of_range, divergence, session, whole_code, topics,
)  # fmt: skip


def ends(dice: Random, answer: Any) -> LyingAnswer:
    """False ends of a log, or an error code in their place."""
    for topic in answer.topics:
        for end_offset in topic.partitions:
            end_offset.offset = dice.choice(OFFSETS)
            end_offset.error_code = dice.choice((0, 0, 0, *CODES))
    return answer  # type: ignore[no-any-return]  # it is a message


def granted(dice: Random, answer: Any) -> LyingAnswer:
    """A false answer of a controller about an in-sync set."""
    for topic in answer.topics:
        for data in topic.partitions:
            data.isr = [dice.choice((-1, 11, 12, 13, 14)) for _ in range(dice.choice((0, 1, 2, 3, 4)))]
            data.error_code = dice.choice((0, 0, *CODES))
            data.partition_epoch, data.leader_epoch = dice.choice((0, 1, 5, 99)), dice.choice(EPOCHS)
    return answer  # type: ignore[no-any-return]  # it is a message


def on_the_wire(dice: Random, message: Message, version: int) -> LyingAnswer:
    """Changes the bytes; an unreadable answer ends the connection."""
    frame = bytearray(framed(message.encode(version)))
    changed = dice.choice(MUTATIONS)(dice, frame, bytes(frame))
    try:
        return type(message).decode(changed[4:], version)
    except WireError:
        return RequestFailure.LOST


def requested(dice: Random, topic_id: Uuid, replicas: tuple[int, ...]) -> FetchRequest:
    """A fetch in the name of a replica, or without a valid name."""
    of = FetchRequest
    partitions = [
        of.FetchPartition(
            partition=dice.choice((0, 0, 0, 1, -1, 7)),
            current_leader_epoch=dice.choice((0, 0, 0, *EPOCHS)),
            fetch_offset=dice.choice(OFFSETS),
            last_fetched_epoch=dice.choice((-1, -1, 0, *EPOCHS)),
            log_start_offset=dice.choice(OFFSETS),
            partition_max_bytes=dice.choice((-1, 0, 1, 1 << 20, 2**31 - 1)),
        )
        for _ in range(dice.choice((0, 1, 1, 2, 5)))
    ]
    topic = of.FetchTopic(topic_id=dice.choice((topic_id, topic_id, Uuid(dice.randbytes(16)))), partitions=partitions)
    return of(
        replica_state=of.ReplicaState(
            replica_id=dice.choice((*replicas, -1, 0, 99, 2**31 - 1)), replica_epoch=dice.choice((-1, -1, 0, 5, 2**62))
        ),
        max_wait_ms=dice.choice((0, 0, 5, 2**31 - 1)),
        min_bytes=dice.choice((0, 1, 2**31 - 1)),
        max_bytes=dice.choice((-1, 0, 1 << 20, 2**31 - 1)),
        session_id=dice.choice((0, 0, 1, dice.randrange(2**31))),
        session_epoch=dice.choice((-1, 0, 0, 1, 2**31 - 1)),
        topics=[topic] * dice.choice((1, 1, 1, 2)),
        forgotten_topics_data=[of.ForgottenTopic(topic_id=topic_id, partitions=[0])] * dice.choice((0, 0, 1)),
    )


def _data(answer: FetchResponse) -> list[FetchResponse.PartitionData]:
    return [data for topic in answer.responses for data in topic.partitions]
