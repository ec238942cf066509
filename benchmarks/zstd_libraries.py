"""Shows why two compression libraries are installed.

    python -m benchmarks.zstd_libraries [--json] [--rounds N]

cramjam has snappy and LZ4, which zstandard does not have, and a Zstandard of its own. This
benchmark times the Zstandard of both on batches of three sizes, at Kafka's default level 3, in
turns in one process; a figure is the median of the CPU times. `ours` is zstandard as
`wire/zstd_frame.py` calls it: with a check for whole frames, and with a bound on the output.
cramjam has no such bound: the last rows are the memory, in MB, that a bomb of 256 MB takes at a
limit of 1 MB.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence

from kafkadouble.wire import zstd_frame
from kafkadouble.wire.batch import encode_batch

from .batches import Job, add, sample
from .report import Table, note

LEVEL, LIMIT, BOMB, HEADER = 3, 1 << 20, 256 << 20, 61

SIZES = {"1 kB": 9, "16 kB": 140, "1 MB": 8900}
"""The approximate size of a batch, and its number of records."""

BOMBED = """
import resource, sys
import cramjam, zstandard
from kafkadouble.wire import zstd_frame
from kafkadouble.wire.errors import TooLarge

packer = zstandard.ZstdCompressor().compressobj()
bomb = b"".join([packer.compress(bytes(1 << 20)) for _ in range({bomb} >> 20)] + [packer.flush()])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    {call}
except TooLarge:
    pass
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.zstd_libraries", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object: cases, ours, peers, ratios")
    parser.add_argument("--rounds", type=int, default=9, help="turns of each library (9)")
    options = parser.parse_args(arguments)
    table = Table("Zstandard of two libraries", "us of CPU per batch; MB for the bomb; lower is better")
    for size, count in SIZES.items():
        plain = records_of(count)
        packed = zstd_frame.compress(plain, LEVEL)
        for verb, jobs in (("compress", compressors(plain)), ("decompress", decompressors(packed))):
            add(table, f"{verb} {size}", jobs, options.rounds)
    if sys.platform == "linux":
        table.add("memory of a bomb", bombed(f"zstd_frame.decompress(bomb, {LIMIT})"), {"cramjam": bombed(CRAMJAM)})
    else:
        note("the memory of a bomb is measured on Linux alone")
    table.print(as_json=options.json)
    return 0


CRAMJAM = "cramjam.zstd.decompress(bomb)"


def records_of(count: int) -> bytes:
    """The bytes of the records of a batch of about this size: those of one batch, repeated."""
    thousand = bytes(encode_batch(sample()))[HEADER:]
    return (thousand * (count // 1000 + 1))[: len(thousand) * count // 1000]


def compressors(plain: bytes) -> dict[str, Job]:
    import cramjam

    return {
        "ours": lambda: zstd_frame.compress(plain, LEVEL),
        "cramjam": lambda: bytes(cramjam.zstd.compress(plain, LEVEL)),
    }


def decompressors(packed: bytes) -> dict[str, Job]:
    import cramjam

    return {
        "ours": lambda: zstd_frame.decompress(packed, LIMIT * 2),
        "cramjam": lambda: bytes(cramjam.zstd.decompress(packed)),
    }


def bombed(call: str) -> float:
    """The MB by which the memory of a fresh process grows."""
    program = BOMBED.format(bomb=BOMB, call=call)
    return float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    sys.exit(main())
