"""The newest offset of each key."""

import pytest

from kafkadouble.server.log.compaction.offset_map import OffsetMap
from kafkadouble.wire.errors import UsageError


def test_the_newest_offset_counts() -> None:
    offsets = OffsetMap(10)
    for key, offset in ((b"", 1), (b"a", 2), (b"a" * 1000, 3), (b"a", 4)):
        offsets.put(key, offset)
    assert [offsets.newest(key) for key in (b"", b"a", b"a" * 1000, b"b", b"a" * 999)] == [1, 4, 3, -1, -1]
    assert len(offsets) == 3


def test_offset_map_reports_when_it_is_full() -> None:
    offsets = OffsetMap(2)
    offsets.put(b"a", 1)
    offsets.put(b"a", 2)
    assert not offsets.full
    offsets.put(b"b", 3)
    assert offsets.full


def test_a_map_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError):
        OffsetMap(0)
