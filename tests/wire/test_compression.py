"""The table of codecs: round trips, bounds, levels, names; then tests of each format's own
features."""

import gzip
import os
import tracemalloc
import zlib
from contextlib import suppress

import cramjam
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from lz4 import frame as lz4

from kafkadouble.wire import lz4_frame
from kafkadouble.wire.compression import CODECS, codec_id, codec_name, compress, decompress
from kafkadouble.wire.errors import BadCompression, TooLarge, UsageError, WireError

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
PACKING = (GZIP, SNAPPY, LZ4, ZSTD)
LEVELS = [(codec, level) for codec, row in CODECS.items() if row.levels for level in row.levels]
SIZES = [0, 1, 1000, 32768, 32769, 65535, 65536, 65537, 200_000]
TEXT = b"It is a truth universally acknowledged, that a single log in possession of a good offset, must be in want of a reader. "


def test_ids_and_names_are_kafkas() -> None:
    assert {codec: codec_name(codec) for codec in CODECS} == {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
    assert [codec_id(codec_name(codec)) for codec in CODECS] == list(CODECS)
    assert codec_name(7) == "7"
    with pytest.raises(UsageError, match="brotli"):
        codec_id("brotli")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_round_trip(codec: int, size: int, kind: type) -> None:
    for data in (os.urandom(size), (TEXT * (size // len(TEXT) + 1))[:size]):
        packed = compress(codec, kind(data))
        out = decompress(codec, kind(packed), size)
        assert (type(packed), type(out), out) == (bytes, bytes, data)


@given(st.binary(max_size=3000), st.sampled_from(list(CODECS)))
def test_round_trip_of_anything(data: bytes, codec: int) -> None:
    assert decompress(codec, compress(codec, data)) == data


@pytest.mark.parametrize(("codec", "level"), LEVELS)
def test_every_level_kafka_accepts(codec: int, level: int) -> None:
    assert decompress(codec, compress(codec, TEXT * 20, level)) == TEXT * 20


@pytest.mark.parametrize(("codec", "level"), [(GZIP, 0), (GZIP, 10), (LZ4, 0), (LZ4, 18), (ZSTD, 23), (ZSTD, -131073)])
def test_levels_kafka_does_not_accept(codec: int, level: int) -> None:
    with pytest.raises(UsageError, match=str(level)):
        compress(codec, b"", level)


@pytest.mark.parametrize(("codec", "low", "high"), [(GZIP, 1, 9), (LZ4, 9, 12), (ZSTD, 1, 19)])
def test_compression_at_a_higher_level_is_smaller(codec: int, low: int, high: int) -> None:
    data = b"".join(b"%d squared is %d. " % (number, number * number) for number in range(4000))
    assert len(compress(codec, data, high)) < len(compress(codec, data, low))


@pytest.mark.parametrize("codec", [5, 7, -1])
def test_codecs_that_kafka_does_not_have(codec: int) -> None:
    with pytest.raises(BadCompression, match=str(codec)):
        decompress(codec, b"")
    with pytest.raises(UsageError, match=str(codec)):
        compress(codec, b"")


@pytest.mark.parametrize("codec", CODECS)
def test_decompression_limit_is_inclusive(codec: int) -> None:
    packed = compress(codec, TEXT * 1000)
    assert decompress(codec, packed, len(TEXT) * 1000) == TEXT * 1000
    for limit in (0, 1, len(TEXT) * 1000 - 1):
        with pytest.raises(TooLarge):
            decompress(codec, packed, limit)


@pytest.mark.parametrize("codec", PACKING)
def test_decompression_allocates_no_more_than_its_limit(codec: int) -> None:
    bomb, limit = compress(codec, bytes(32 << 20)), 1 << 20
    decompress(codec, compress(codec, b"warm"))
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            decompress(codec, bomb, limit)
        assert tracemalloc.get_traced_memory()[1] < 3 * limit
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("codec", PACKING)
@given(st.binary(max_size=200))
def test_random_compressed_bytes_are_refused_or_bounded(codec: int, data: bytes) -> None:
    with suppress(BadCompression, TooLarge):
        assert len(decompress(codec, data, 1000)) <= 1000


@pytest.mark.parametrize("codec", PACKING)
@given(st.data())
def test_damage_is_refused_or_harmless(codec: int, data: st.DataObject) -> None:
    packed = bytearray(compress(codec, TEXT * 3))
    for _ in range(data.draw(st.integers(1, 3))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    with suppress(BadCompression, TooLarge):
        assert len(decompress(codec, packed, 1000)) <= 1000


@pytest.mark.parametrize("codec", PACKING)
def test_missing_bytes_are_noticed(codec: int) -> None:
    packed = compress(codec, TEXT * 2)
    # A Snappy stream may end after its header; a rest that is too short for a length is ignored.
    sizes = (
        range(1, len(packed)) if codec != SNAPPY else [size for size in range(1, len(packed)) if not 16 <= size < 20]
    )
    for size in sizes:
        with pytest.raises(BadCompression):
            decompress(codec, packed[:size])


class TestGzip:
    def test_members_follow_one_another(self) -> None:
        assert decompress(GZIP, gzip.compress(b"one ") + gzip.compress(b"") + compress(GZIP, b"two")) == b"one two"

    @pytest.mark.parametrize("rest", [b"\x00", b"junk that follows", b"\x1f\x8b", b"\x1f\x8b\x08\x00"])
    def test_gzip_trailing_bytes_are_ignored(self, rest: bytes) -> None:
        assert decompress(GZIP, gzip.compress(b"one") + rest) == b"one"

    def test_a_cut_second_member_is_refused(self) -> None:
        with pytest.raises(BadCompression, match="end inside"):
            decompress(GZIP, gzip.compress(b"one") + gzip.compress(b"two")[:-1])

    def test_gzip_flags_without_a_meaning_are_ignored(self) -> None:
        packed = bytearray(gzip.compress(b"one"))
        packed[3] = 0xE1
        assert decompress(GZIP, packed) == b"one"

    def test_a_header_without_a_member_at_the_end_is_ignored(self) -> None:
        packed = gzip.compress(b"one")
        assert decompress(GZIP, packed + packed[:10]) == b"one"

    def test_name_comment_and_checksum_of_a_header_are_read(self) -> None:
        packed = gzip.compress(b"one")
        header = packed[:3] + b"\x1e" + packed[4:10] + b"\x01\0x" + b"name\0" + b"comment\0"
        checksum = (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little")
        assert decompress(GZIP, header + checksum + packed[10:]) == b"one"
        with pytest.raises(BadCompression, match="checksum of a header"):
            decompress(GZIP, header + b"\0\0" + packed[10:])

    def test_the_checksum_is_checked(self) -> None:
        packed = bytearray(gzip.compress(b"one"))
        packed[-5] ^= 1
        with pytest.raises(BadCompression, match="check"):
            decompress(GZIP, packed)

    def test_python_reads_ours(self) -> None:
        assert gzip.decompress(compress(GZIP, TEXT)) == TEXT


class TestSnappy:
    def test_snappy_is_written_as_snappy_java_does(self) -> None:
        packed = compress(SNAPPY, bytes(32768) + b"x")
        assert packed.startswith(b"\x82SNAPPY\x00" + b"\x00\x00\x00\x01\x00\x00\x00\x01")
        first = int.from_bytes(packed[16:20], "big")
        assert bytes(cramjam.snappy.decompress_raw(packed[20 : 20 + first])) == bytes(32768)
        assert bytes(cramjam.snappy.decompress_raw(packed[24 + first :])) == b"x"

    def test_a_raw_block_is_read(self) -> None:
        assert decompress(SNAPPY, bytes(cramjam.snappy.compress_raw(TEXT))) == TEXT

    def test_streams_follow_one_another(self) -> None:
        assert decompress(SNAPPY, compress(SNAPPY, b"one ") + compress(SNAPPY, b"two")) == b"one two"

    def test_a_lying_length_allocates_nothing(self) -> None:
        with pytest.raises(TooLarge):
            decompress(SNAPPY, b"\xff\xff\xff\xff\x0f" + b"x" * 10, 1000)

    @pytest.mark.parametrize("size", [-1, 100, 0x7FFFFFFF])
    def test_chunks_beyond_the_bytes_are_refused(self, size: int) -> None:
        with pytest.raises(BadCompression):
            decompress(SNAPPY, compress(SNAPPY, b"") + size.to_bytes(4, "big", signed=True) + b"x" * 10)

    @pytest.mark.parametrize("version", [0, -1, 2])
    def test_a_version_is_looked_at_in_a_stream_that_follows(self, version: int) -> None:
        """snappy-java does the same, and so does Kafka."""
        packed = bytearray(compress(SNAPPY, b"one "))
        packed[8:12] = version.to_bytes(4, "big", signed=True)
        assert decompress(SNAPPY, packed) == b"one "
        if version < 1:
            with pytest.raises(BadCompression, match="version"):
                decompress(SNAPPY, compress(SNAPPY, b"one ") + packed)


class TestLz4:
    @pytest.mark.parametrize("block_size", [4, 5, 6, 7])
    @pytest.mark.parametrize("content_checksum", [False, True])
    @pytest.mark.parametrize("block_checksum", [False, True])
    @pytest.mark.parametrize("store_size", [False, True])
    def test_every_kind_of_frame_is_read(
        self, block_size: int, content_checksum: bool, block_checksum: bool, store_size: bool
    ) -> None:
        data = TEXT * 700 + os.urandom(70_000)
        frame = lz4.compress(
            data,
            block_size=block_size,
            block_linked=False,
            content_checksum=content_checksum,
            block_checksum=block_checksum,
            store_size=store_size,
        )
        assert decompress(LZ4, frame) == data

    def test_linked_blocks_are_refused_as_kafka_refuses_them(self) -> None:
        with pytest.raises(BadCompression, match="linked"):
            decompress(LZ4, lz4.compress(TEXT * 1000, block_size=4, block_linked=True))

    def test_lz4_is_written_as_kafka_does(self) -> None:
        packed = compress(LZ4, bytes(65536) + b"x")
        assert packed.startswith(bytes.fromhex("04224d18604082"))
        assert packed.endswith(bytes.fromhex("01000080") + b"x" + bytes(4))  # not packed
        assert lz4.decompress(packed) == bytes(65536) + b"x"

    @pytest.mark.parametrize(
        ("position", "value", "reason"),
        [
            (0, 5, "no frame"),
            (4, 0x20, "version"),
            (4, 0x61, "reserved"),
            (5, 0x30, "size"),
            (5, 0xC0, "size"),
            (5, 0x41, "size"),
            (6, 0, "checksum"),
        ],
    )
    def test_headers_kafka_refuses(self, position: int, value: int, reason: str) -> None:
        packed = bytearray(compress(LZ4, TEXT))
        packed[position] = value
        with pytest.raises(BadCompression, match=reason):
            decompress(LZ4, packed)

    def test_content_size_and_checksum_are_not_looked_at(self) -> None:
        frame = bytearray(lz4.compress(TEXT, block_linked=False, content_checksum=True, store_size=True))
        frame[-1] ^= 1
        assert decompress(LZ4, frame) == TEXT
        with pytest.raises(BadCompression):
            decompress(LZ4, frame[:-1])

    def test_a_wrong_block_checksum_is_refused(self) -> None:
        frame = bytearray(lz4.compress(TEXT, block_linked=False, block_checksum=True, store_size=False))
        frame[-5] ^= 1
        with pytest.raises(BadCompression):
            decompress(LZ4, frame)

    def test_bytes_after_the_lz4_frame_are_ignored(self) -> None:
        assert decompress(LZ4, compress(LZ4, TEXT) + compress(LZ4, TEXT)) == TEXT

    def test_a_stored_block_of_no_bytes_ends_the_frame(self) -> None:
        """Kafka's reader does the same."""
        packed = compress(LZ4, TEXT)[:-4] + (0x80000000).to_bytes(4, "little")
        assert decompress(LZ4, packed + b"junk") == TEXT

    def test_a_block_beyond_its_bound_is_refused(self) -> None:
        with pytest.raises(BadCompression, match="block"):
            decompress(LZ4, compress(LZ4, b"")[:-4] + (65537).to_bytes(4, "little") + bytes(70_000))

    def test_messages_of_magic_0_may_have_any_header_checksum(self) -> None:
        packed = bytearray(compress(LZ4, TEXT))
        packed[6] ^= 0xFF
        assert lz4_frame.decompress(packed, 1000, any_header_checksum=True) == TEXT

    def test_lz4_frame_checksum_has_the_published_values(self) -> None:
        assert lz4_frame.xxh32_short(b"") == 0x02CC5D05
        assert lz4_frame.xxh32_short(b"a") == 0x550D7456
        assert lz4_frame.xxh32_short(b"abc") == 0x32D153FF
        assert lz4_frame.xxh32_short(b"Hello World") == 0xB1FD16EE


class TestZstd:
    @pytest.mark.parametrize("content_size", [False, True])
    @pytest.mark.parametrize("checksum", [False, True])
    @pytest.mark.parametrize("size", [0, 10, 300, 200_000])
    def test_every_kind_of_frame_is_read(self, content_size: bool, checksum: bool, size: int) -> None:
        data = (TEXT * (size // len(TEXT) + 1))[:size]
        packed = zstandard.ZstdCompressor(write_content_size=content_size, write_checksum=checksum).compress(data)
        assert decompress(ZSTD, packed, max(size, 1)) == data

    def test_zstd_is_written_without_content_size_as_kafka_does(self) -> None:
        assert zstandard.frame_content_size(compress(ZSTD, TEXT)) == -1

    def test_frames_follow_one_another_and_some_are_skipped(self) -> None:
        skipped = bytes.fromhex("532a4d18 03000000") + b"abc"
        one, two = zstandard.ZstdCompressor().compress(b"one "), compress(ZSTD, b"two")
        assert decompress(ZSTD, skipped + one + skipped + two) == b"one two"

    def test_a_checksum_is_checked(self) -> None:
        packed = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(TEXT))
        packed[-1] ^= 1
        with pytest.raises(BadCompression):
            decompress(ZSTD, packed)

    def test_bytes_that_start_no_zstd_frame_are_refused(self) -> None:
        with pytest.raises(BadCompression, match="no frame"):
            decompress(ZSTD, compress(ZSTD, TEXT) + b"junk")

    def test_zstd_frame_with_a_wrong_content_size_is_refused(self) -> None:
        packed = bytearray(zstandard.ZstdCompressor().compress(bytes(100_000)))
        at = packed.index((100_000).to_bytes(4, "little"))
        packed[at : at + 4] = (0x7FFFFFFF).to_bytes(4, "little")
        with pytest.raises(WireError):
            decompress(ZSTD, packed, 1 << 20)
