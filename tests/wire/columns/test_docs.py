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


def test_snippets_of_the_columns_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    batches = [
        encode_batch([Record(at + i, 5, b"k", b"v") for i in range(60)], base_offset=at) for at in range(0, 3000, 60)
    ]
    batches[20][-2] ^= 1
    Path("orders-0").mkdir()
    segment = Path("orders-0", "00000000000000000000.log")
    segment.write_bytes(b"".join(batches[:20] + batches[21:]))
    message: dict[str, Any] = {}
    exec(SNIPPETS[0], message)
    assert isinstance(message["table"], pa.Table)
    assert (message["table"].num_rows, message["table"]["offset"][-1].as_py()) == (2940, 2999)
    message["segment"] = b"".join(batches)
    message["headers"] = columns.walk(message["segment"])
    exec(SNIPPETS[1], message)
    assert message["rows"] == 1000 - 60
    ((position, problem),) = message["bad"]
    assert position == message["headers"].position[20]
    assert problem.startswith("checksum")
    exec(SNIPPETS[2], message)
    assert decode_all(b"".join(message["made"])) == [
        Record(0, 1_700_000_000_000, b"anna", b"tea"),
        Record(1, 1_700_000_000_000, None, b"coffee"),
    ]
    assert len(SNIPPETS) == 3


def test_every_column_is_named() -> None:
    assert [name for name in columns.NAMES if f"`{name}`" not in PAGE] == []
