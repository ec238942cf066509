"""docs/kafka-log.md: what it does with Spark is run, as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from .log_pages import replicas

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "kafka-log.md").read_text()
PROGRAMS = [program for program in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "spark" in program]
EXPECTED = [
    {"|        0|         46|", "|        1|         40|"},
    {
        "|              mixed| none|     6262|",
        "|              mixed| zstd|      571|",
        "| __consumer_offsets| none|      716|",
    },
    {"|        0|      36|", "|        1|      33|"},
    {"|2026-11-21 17:52:...|"},
    {"6"},
    {
        "|orders|        0|               5|                5| true|",
        "|  paid|        3|            NULL|                5| true|",
    },
]
"""Lines that each of them prints."""


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_the_programs_print_what_they_should(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    known = dict(zip(("REPLICA_1", "REPLICA_2"), map(str, replicas(tmp_path)), strict=True))
    assert len(PROGRAMS) == len(EXPECTED)
    try:
        for program, expected in zip(PROGRAMS, EXPECTED, strict=True):
            exec(compile(program, "kafka-log.md", "exec"), {"__name__": "page", "spark": spark, **known})
            assert expected <= set(capsys.readouterr().out.splitlines())
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")
        spark.catalog.dropTempView("mixed")
