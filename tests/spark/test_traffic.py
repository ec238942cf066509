"""The report on captured traffic made by Spark: the tables that Arrow makes of the same rows."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from examples import traffic_report
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.pipeline.traffic import schema
from kafkadouble.pipeline.traffic.grouping import marked, table_of
from kafkadouble.pipeline.traffic.problems import Problems
from kafkadouble.pipeline.traffic.reading import read
from kafkadouble.pipeline.traffic.tables import FAILURES, MATRIX, TABLES
from tests.pipeline.traffic.logs import kafka
from tests.pipeline.traffic.rows import AT, row

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "traffic.md"

ROWS = [
    *(row(time=AT + number, latency_us=number * 7 % 100, version=4 + number % 3) for number in range(200)),
    row(
        client_software=None,
        client_version=None,
        api_key=ApiKeys.LIST_OFFSETS,
        version=0,
        client_id=None,
        outcome="disconnected",
    ),
    row(errors=(6, 3), connection="2", time=AT - 5, latency_us=None),
    row(errors=(3,), connection="1", time=AT - 5, client_id="first"),
    row(api_key=ApiKeys.JOIN_GROUP, version=5, errors=(79,), highest=9),
    row(api_key=ApiKeys.STOP_REPLICA, version=1, highest=None, outcome=None),
]


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    """Captures of two runs, and a log with a bad line."""
    folder, log = tmp_path / "captures", tmp_path / "kafka-request.log"
    for run in ("one", "two"):
        (folder / run).mkdir(parents=True)
        pq.write_table(pa.Table.from_batches([schema.batch_of(run, ROWS)]), folder / run / "1.parquet")
    log.write_text(kafka() + "Completed request:[]\n" + kafka(2, 0, deprecated=True, software=("old", "0.9")))
    return folder, log


def test_every_table_is_that_of_arrow(spark: Any, paths: tuple[Path, Path]) -> None:
    from kafkadouble.pipeline.spark import traffic

    folder, log = paths
    rows = marked(read(paths, Problems()))
    captured = traffic.captures(spark, str(folder)).unionByName(traffic.logs(spark, str(log)))
    made = traffic.marked(captured).cache()
    for table in TABLES:
        found = traffic.table_of(made, table).toArrow()
        assert found.column_names == list(table.columns)
        assert found.to_pylist() == table_of(rows, table).to_pylist()
    made.unpersist()


def test_the_time_zone_of_a_session_changes_no_time(spark: Any, paths: tuple[Path, Path]) -> None:
    from kafkadouble.pipeline.spark import traffic

    spark.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
    try:
        found = traffic.table_of(traffic.marked(traffic.captures(spark, str(paths[0]))), FAILURES).toArrow()
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    first = table_of(marked(read(paths[:1], Problems())), FAILURES)["time"].to_pylist()
    assert [time.timestamp() for time in found["time"].to_pylist()] == [time.timestamp() for time in first]


def test_traffic_example_of_the_page_runs(
    spark: Any, paths: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"```python spark\n(.*?)```", PAGE.read_text(), re.DOTALL)
    example = example.replace('"traffic.parquet"', repr(str(paths[0])))
    exec(compile(example, "traffic.md", "exec"), {"__name__": "page", "spark": spark})
    assert "client_software" in capsys.readouterr().out


def test_bad_request_log_lines_are_reported(spark: Any, paths: tuple[Path, Path]) -> None:
    from kafkadouble.pipeline.spark import traffic

    found = traffic.problems(spark, str(paths[1])).collect()
    assert [tuple(problem) for problem in found] == [(str(paths[1]), 2, "an entry that is no JSON object")]


def test_example_program_of_traffic_runs(
    spark: Any, paths: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traffic_report.main([str(paths[0]), "--logs", str(paths[1]), "--out", str(tmp_path / "report")])
    assert "Versions used that Kafka 4.0 removed (KIP-896)" in capsys.readouterr().out
    (part,) = (tmp_path / "report" / "matrix").glob("part-*.csv")
    with part.open() as file:
        reader = list(csv.DictReader(file))
    assert sum(int(each["requests"]) for each in reader) == 2 * len(ROWS) + 2
    assert tuple(reader[0]) == MATRIX.columns
