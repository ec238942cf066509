"""Decompression bombs in Produce: refused, in bounded memory and time, while other clients are
served."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.server.log.validation import MOST_RECORDS
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.record import Record

from .bombs import CODECS, MB, bomb, sealed
from .sockets import Broker, Client, create, good_client, produced, serving
from .stage import GOOD, Good, Stage, logged

COUNT, LAST_OFFSET_DELTA = slice(57, 61), slice(23, 27)


@pytest.fixture
def good() -> Iterator[Good]:
    with logged() as log:
        yield Good(Stage(log, seed=1, settings={"message.max.bytes": 10 * MB}))


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with serving("-c", f"message.max.bytes={10 * MB}") as found:
        yield found


def code(answer: Any) -> int:
    error_code: int = answer.responses[0].partition_responses[0].error_code
    return error_code


@pytest.mark.skipif(sys.platform != "linux", reason="MEMORY IS NOT LOOKED AT: only Linux tells that of another process")
@pytest.mark.parametrize("codec", CODECS)
def test_batch_that_expands_too_much_is_refused_and_others_are_served(broker: Broker, codec: str) -> None:
    data = bomb(CODECS[codec], 128 * MB)
    with good_client(broker), closing(Client(broker)) as client:
        create(client, codec)
        before = broker.resident()
        for _ in range(3):
            assert code(client.ask(produced(data, codec), 9)) == error_codes.INVALID_RECORD
        assert broker.resident() - before < 50 * MB


@pytest.mark.parametrize("codec", ["gzip", "lz4", "zstd"])
def test_the_batches_of_one_request_share_the_bound(good: Good, codec: str) -> None:
    """A record of 60 MB may be small; a second one in the same request is too much, in another
    request it is not."""
    data = bytes(encode_batch([Record(0, 0, None, bytes(60 * MB), ())], compression=CODECS[codec]))
    parts = [ProduceRequest.PartitionProduceData(index=index, records=data) for index in (0, 1)]
    topic = ProduceRequest.TopicProduceData(name="a", partition_data=parts)
    for _ in range(2):
        (answered,) = good.ask(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic]), 9).responses
        assert [response.error_code for response in answered.partition_responses] == [0, error_codes.INVALID_RECORD]
    good.works()


def test_small_bytes_that_hold_very_many_records_are_refused(good: Good) -> None:
    for count, expected in ((MOST_RECORDS, 0), (MOST_RECORDS + 1, error_codes.INVALID_RECORD)):
        body = encode_batch([Record(offset, 0, None, None, ()) for offset in range(count)], compression=CODECS["zstd"])
        assert count > len(body) // 7
        assert code(good.ask(produced(bytes(body), GOOD), 9)) == expected


def test_as_many_as_the_bytes_could_hold_are_taken(good: Good) -> None:
    count = MOST_RECORDS + 1
    body = encode_batch([Record(offset, 0, None, None, ()) for offset in range(count)])
    assert len(body) > 7 * count
    assert code(good.ask(produced(bytes(body), GOOD), 9)) == 0


def test_batch_with_a_wrong_record_count_is_refused(good: Good) -> None:
    batch = encode_batch([Record(0, 0, None, b"v", ())])
    batch[COUNT], batch[LAST_OFFSET_DELTA] = (2**31 - 1).to_bytes(4), (2**31 - 2).to_bytes(4)
    assert code(good.ask(produced(sealed(batch), GOOD), 9)) == error_codes.INVALID_RECORD
