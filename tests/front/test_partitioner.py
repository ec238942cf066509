"""murmur2 as Kafka has it: the values of Apache Kafka's own test of it."""

import pytest

from kafkadouble.records.partitioner import murmur2, partition_for

KNOWN = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize("key", KNOWN)
def test_partitioner_gives_the_partitions_of_kafka(key: bytes) -> None:
    assert murmur2(key) == KNOWN[key] % 2**32


def test_partitions_are_in_range() -> None:
    assert {partition_for(str(number).encode(), 7) for number in range(200)} == set(range(7))
    assert partition_for(b"", 5) in range(5)
