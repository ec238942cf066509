"""The snippets of docs/columns.md do what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kafkadouble.wire import columns
from kafkadouble.wire.batch import Record, decode_all, encode_batch

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "columns.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_snippets_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    batches = [
        encode_batch([Record(at + i, 5, b"k", b"v") for i in range(60)], base_offset=at) for at in range(0, 3000, 60)
    ]
    batches[20][-2] ^= 1
    Path("orders-0").mkdir()
    segment = Path("orders-0", "00000000000000000000.log")
    segment.write_bytes(b"".join(batches[:20] + batches[21:]))
    said: dict[str, Any] = {}
    exec(SNIPPETS[0], said)
    assert isinstance(said["table"], pa.Table)
    assert (said["table"].num_rows, said["table"]["offset"][-1].as_py()) == (2940, 2999)
    said["segment"] = b"".join(batches)
    said["headers"] = columns.walk(said["segment"])
    exec(SNIPPETS[1], said)
    assert said["rows"] == 1000 - 60
    ((position, problem),) = said["bad"]
    assert position == said["headers"].position[20]
    assert problem.startswith("checksum")
    exec(SNIPPETS[2], said)
    assert decode_all(b"".join(said["made"])) == [
        Record(0, 1_700_000_000_000, b"anna", b"tea"),
        Record(1, 1_700_000_000_000, None, b"coffee"),
    ]
    assert len(SNIPPETS) == 3


def test_every_column_is_named() -> None:
    assert [name for name in columns.NAMES if f"`{name}`" not in PAGE] == []
