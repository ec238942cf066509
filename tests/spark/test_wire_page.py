"""docs/kafka-wire.md: its programs run as they are on the page, and Spark refuses what the page
says that it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble

pytestmark = pytest.mark.timeout(600)

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "kafka-wire.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
EXPECTED = (
    {"| 100|        7|  99|"},
    {"[40, 40, 20]"},
    {"|        0|           0|         99|"},
)
"""Lines that each of the programs prints."""


@pytest.fixture(scope="module")
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble() as double:
        yield double


def test_the_programs_print_what_they_should(
    spark: Any, kafka: KafkaDouble, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known: dict[str, Any] = {"spark": spark, "bootstrap_servers": kafka.bootstrap_servers, "folder": str(tmp_path)}
    assert len(PROGRAMS) == len(EXPECTED)
    for program, expected in zip(PROGRAMS, EXPECTED, strict=True):
        exec(compile(program, "kafka-wire.md", "exec"), known)
        assert expected <= set(capsys.readouterr().out.splitlines())


def test_page_lists_limits_of_spark_for_python_sources(spark: Any, kafka: KafkaDouble, tmp_path: Path) -> None:
    sink = {"kafka.bootstrap.servers": kafka.bootstrap_servers, "topic": "t"}
    with pytest.raises(Exception, match=r"UNSUPPORTED_DATA_SOURCE_SAVE_MODE"):
        spark.range(1).selectExpr("'x' as value").write.format("kafka-wire").options(**sink).save()
    rows = spark.readStream.format("rate").load().selectExpr("string(value) as value")
    stream = rows.writeStream.format("kafka-wire").options(**sink, checkpointLocation=str(tmp_path))
    with pytest.raises(Exception, match=r"(?i)update"):
        stream.outputMode("update").start().awaitTermination(400)
