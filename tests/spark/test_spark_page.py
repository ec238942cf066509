"""docs/spark.md: its programs are run, as they stand there, on one topic."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble

pytestmark = pytest.mark.timeout(600)

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "spark.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
EXPECTED = ({"|  10|   9|"}, {"|  10|   9|"}, set[str](), {"|        0|  10|"}, {"|        0|          9|"})
"""Lines that each of them prints."""


def test_the_programs_print_what_they_should(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(PROGRAMS) == len(EXPECTED)
    with KafkaDouble(data_dir=tmp_path) as kafka:
        for number in range(10):
            kafka.produce("orders", str(number))
        known: dict[str, Any] = {
            "spark": spark, "bootstrap_servers": kafka.bootstrap_servers, "log_directory": str(tmp_path),
        }  # fmt: skip
        try:
            for program, expected in zip(PROGRAMS, EXPECTED, strict=True):
                exec(compile(program, "spark.md", "exec"), known)
                assert expected <= set(capsys.readouterr().out.splitlines())
        finally:
            spark.catalog.dropTempView("orders")
