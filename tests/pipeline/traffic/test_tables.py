"""From rows of captured traffic to the tables of a report, and captures found at paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.pipeline.traffic import schema
from kafkadouble.pipeline.traffic.grouping import marked, table_of
from kafkadouble.pipeline.traffic.problems import Problems
from kafkadouble.pipeline.traffic.reading import read
from kafkadouble.pipeline.traffic.removed import NONE_KEPT, kept_from
from kafkadouble.pipeline.traffic.tables import FAILURES, MATRIX, REMOVED, TABLES, VERSIONS, ReportTable
from kafkadouble.server.tracing import capture
from kafkadouble.wire.errors import UsageError
from tests.pipeline.traffic.rows import AT, row


def report(table: ReportTable, *rows: tuple[Any, ...], run: str = "r") -> list[dict[str, Any]]:
    made = table_of(marked([schema.batch_of(run, rows)]), table)
    assert tuple(made.column_names) == table.columns
    found: list[dict[str, Any]] = made.to_pylist()
    return found


def test_writers_and_readers_have_the_same_fields() -> None:
    assert schema.FIELDS == capture.FIELDS


class TestMatrix:
    def test_counts_and_percentiles_of_each_group(self) -> None:
        rows = [row(latency_us=latency) for latency in (100, 200, 300)]
        rows += [row(errors=(6, 3), latency_us=7), row(version=12, latency_us=None)]
        key = {"client_software": "franz-go", "client_version": "1.2", "api": "Fetch"}
        assert report(MATRIX, *rows) == [
            {**key, "version": 11, "error": "", "requests": 3, "p50_us": 200.0, "p99_us": 298.0},
            {
                **key,
                "version": 11,
                "error": "NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION",
                "requests": 1,
                "p50_us": 7.0,
                "p99_us": 7.0,
            },
            {**key, "version": 12, "error": "", "requests": 1, "p50_us": None, "p99_us": None},
        ]

    def test_unknown_software_is_a_group_of_its_own(self) -> None:
        found = report(MATRIX, row(), row(client_software=None, client_version=None), row(client_software=None))
        assert [(each["client_software"], each["client_version"]) for each in found] == [
            ("franz-go", "1.2"),
            (None, "1.2"),
            (None, None),
        ]

    def test_requests_without_a_response_count_by_outcome(self) -> None:
        outcomes = ("answered", "unanswered", "disconnected", "abandoned", None)
        found = report(MATRIX, *(row(outcome=outcome) for outcome in outcomes))
        assert {each["error"]: each["requests"] for each in found} == {"": 3, "disconnected": 1, "abandoned": 1}


def test_versions_used_against_the_highest_that_was_offered() -> None:
    rows = [row(version=4), row(version=11), row(api_key=ApiKeys.METADATA, version=12, highest=None)]
    used = [{name: each[name] for name in VERSIONS.columns[2:]} for each in report(VERSIONS, *rows)]
    assert used == [
        {"api": "Fetch", "requests": 2, "lowest_used": 4, "highest_used": 11, "highest_offered": 18, "behind": 7},
        {
            "api": "Metadata",
            "requests": 1,
            "lowest_used": 12,
            "highest_used": 12,
            "highest_offered": None,
            "behind": None,
        },
    ]


class TestRemoved:
    def test_versions_that_kafka_4_does_not_have(self) -> None:
        rows = [row(version=3, client_id="old", time=AT + 5), row(version=3, client_id="older"), row(version=4)]
        rows += [row(api_key=ApiKeys.LEADER_AND_ISR, version=2, client_id="zookeeper")]
        found = {(each["api"], each["version"]): each for each in report(REMOVED, *rows)}
        assert found.keys() == {("Fetch", 3), ("LeaderAndIsr", 2)}
        fetch = found["Fetch", 3]
        assert (fetch["requests"], fetch["kept_from"], fetch["client_id"]) == (2, 4, "older")

    def test_the_versions_are_those_of_kip_896(self) -> None:
        """Its table, as far as there are requests of clients in it."""
        by_name = {registry.api(key).name: version for key, version in kept_from().items()}
        expected = {"Produce": 3, "Fetch": 4, "ListOffsets": 1, "OffsetCommit": 2, "OffsetFetch": 1, "CreateTopics": 2}
        expected |= {"DeleteTopics": 1, "OffsetForLeaderEpoch": 2, "DescribeConfigs": 1, "DescribeLogDirs": 1}
        expected |= {"DescribeAcls": 1, "CreateAcls": 1, "DeleteAcls": 1, "AlterReplicaLogDirs": 1}
        expected |= {"CreateDelegationToken": 1, "RenewDelegationToken": 1, "ExpireDelegationToken": 1}
        expected |= {"DescribeDelegationToken": 1, "WriteTxnMarkers": 1, "AlterPartition": 2}
        expected |= dict.fromkeys(("LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown"), NONE_KEPT)
        assert by_name == expected


class TestFailures:
    def test_failures_table_has_the_first_request_of_each_kind(self) -> None:
        first = row(time=AT + 1, connection="1", errors=(3,), client_id="first")
        rows = [row(), row(time=AT + 9, errors=(6,)), first, row(time=AT + 1, connection="2", outcome="disconnected")]
        (found,) = report(FAILURES, *rows)
        assert (found["failures"], found["client_id"], found["error"]) == (3, "first", "UNKNOWN_TOPIC_OR_PARTITION")

    def test_error_that_the_protocol_expects_is_no_failure(self) -> None:
        rows = [
            row(api_key=ApiKeys.JOIN_GROUP, version=5, errors=(79,)),
            row(api_key=ApiKeys.HEARTBEAT, version=3, errors=(27,)),
        ]
        rows += [
            row(api_key=ApiKeys.API_VERSIONS, version=4, errors=(35,)),
            row(outcome="abandoned"),
            row(outcome="unanswered"),
        ]
        assert report(FAILURES, *rows) == []

    def test_a_null_in_the_first_row_is_reported_as_such(self) -> None:
        (found,) = report(FAILURES, row(errors=(3,), client_id=None), row(errors=(3,), time=AT + 1))
        assert found["client_id"] is None


def test_no_rows_are_no_error() -> None:
    rows = marked([])
    assert [table_of(rows, table).num_rows for table in TABLES] == [0] * 4


class TestPaths:
    def write(self, path: Path, client_id: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_batches([schema.batch_of("r", [row(client_id=client_id)])]), path)

    def clients(self, problems: Problems, *paths: Path) -> list[str]:
        return [client for batch in read(paths, problems) for client in batch.column("client_id").to_pylist()]

    def test_captures_in_all_folders_and_what_runs_left_that_were_killed(self, tmp_path: Path) -> None:
        self.write(tmp_path / "traffic.parquet", "whole")
        self.write(tmp_path / "traffic.parquet.parts" / "1.parquet", "killed")
        self.write(tmp_path / "more" / "1.parquet", "below")
        self.write(tmp_path / "more" / ".2.parquet.123", "unfinished")
        (tmp_path / "more" / "server.log").write_text("no requests in it\n")
        problems = Problems()
        assert sorted(self.clients(problems, tmp_path)) == ["below", "killed", "whole"]
        assert self.clients(problems, tmp_path / "traffic.parquet") == ["whole", "killed"]
        (tmp_path / "traffic.parquet").unlink()
        assert self.clients(problems, tmp_path / "traffic.parquet") == ["killed"]
        assert problems.named == []

    def test_a_capture_of_an_earlier_version_has_no_principals(self, tmp_path: Path) -> None:
        path, problems = tmp_path / "old.parquet", Problems()
        table = pa.Table.from_batches([schema.batch_of("r", [row()])])
        pq.write_table(table.drop_columns(["principal"]), path)
        (batch,) = read([path], problems)
        assert batch.column("principal").to_pylist() == [None]
        assert batch.drop_columns(["principal"]).to_pylist() == table.drop_columns(["principal"]).to_pylist()
        assert problems.named == []

    def test_named_client_without_requests_is_a_problem(self, tmp_path: Path) -> None:
        other, torn, text = tmp_path / "other.parquet", tmp_path / "torn.parquet", tmp_path / "text.log"
        pq.write_table(pa.table({"x": [1]}), other)
        torn.write_bytes(b"PAR1 and no more")
        text.write_text("nothing\n")
        problems = Problems()
        assert self.clients(problems, other, torn, text) == []
        assert [(Path(problem.path).name, problem.what.split(":")[0]) for problem in problems.named] == [
            ("other.parquet", "has no requests in it"),
            ("torn.parquet", "is no Parquet that can be read"),
            ("text.log", "has no requests in it"),
        ]

    def test_a_path_where_nothing_is(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="there is no such file or directory"):
            list(read([tmp_path / "nowhere"], Problems()))
