"""CRC-32C against its published vectors, and the import that it puts off."""

import subprocess
import sys
import types

import pytest

from kafkadouble.wire import checksum
from kafkadouble.wire.checksum import crc32c

# RFC 3720, appendix B.4, and the check value of the CRC catalogues.
VECTORS = [
    (bytes(32), 0x8A9136AA),
    (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E),
    (bytes(range(31, -1, -1)), 0x113FDB5C),
    (b"123456789", 0xE3069283),
    (b"", 0),
]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize(("data", "expected"), VECTORS)
def test_crc32c_has_the_published_values(data: bytes, expected: int, kind: type) -> None:
    assert crc32c(kind(data)) == expected


def test_a_checksum_goes_on_where_another_ended() -> None:
    assert crc32c(memoryview(b"6789"), crc32c(b"12345")) == crc32c(b"123456789")


def test_the_other_library_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    other = types.ModuleType("google_crc32c")
    seen: list[object] = []

    def extend(value: int, data: bytes) -> int:
        seen.append(data)
        return value + len(data)

    setattr(other, "extend", extend)  # noqa: B010  # a module made for this test
    monkeypatch.setitem(sys.modules, "crc32c", None)  # an import of it now fails
    monkeypatch.setitem(sys.modules, "google_crc32c", other)
    monkeypatch.setattr(checksum, "_crc32c", None)
    assert crc32c(memoryview(b"abc"), 7) == 10
    assert seen == [b"abc"]
    assert type(seen[0]) is bytes


def test_checksum_imports_crc32c_on_first_use() -> None:
    program = """
import sys
from kafkadouble.wire.batch import Record, encode_batch, decode_records
batch = encode_batch([Record(0, 1, b"k", b"v")], seal=False)
decode_records(batch, check_crc=False)
print(sorted({"crc32c", "cramjam", "zstandard", "lz4", "numpy"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
