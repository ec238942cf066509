"""Logs of Kafka and of Kroxylicious, read into the rows of captured traffic."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.pipeline.traffic import entries, protocol_log, reading
from kafkadouble.pipeline.traffic.apis import key_of
from kafkadouble.pipeline.traffic.problems import Problems
from kafkadouble.pipeline.traffic.reading import AS_UTC, ReadOptions, read
from tests.pipeline.traffic.logs import OFFERED, entry, kafka, kroxylicious, kroxylicious_json


def read_text(path: Path, text: str, how: ReadOptions = AS_UTC) -> tuple[list[dict[str, Any]], Problems]:
    path.write_text(text)
    problems = Problems()
    return [row for batch in read([path], problems, how) for row in batch.to_pylist()], problems


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "requests.log"


class TestKafka:
    def test_a_line_is_a_row(self, log: Path) -> None:
        response = {"topics": [{"topic": "t", "partitions": [{"errorCode": 3}, {"errorCode": 0}, {"errorCode": 3}]}]}
        (row,), problems = read_text(log, kafka(response=response, software=("franz-go", "1.2")))
        assert problems.named == []
        assert row == {
            "run": str(log),
            "time": datetime(2026, 11, 22, 3, 6, 14, 483887, tzinfo=UTC),
            "node": None,
            "connection": "127.0.0.1:9092-10.0.0.7:36390-0-1",
            "client_id": "app",
            "client_software": "franz-go",
            "client_version": "1.2",
            "address": "10.0.0.7:36390",
            "principal": "User:ANONYMOUS",
            "api_key": ApiKeys.FETCH,
            "api": "Fetch",
            "version": 4,
            "request_bytes": None,
            "response_bytes": None,
            "correlation_id": 5,
            "errors": [3],
            "latency_us": 117113,
            "outcome": "answered",
            "highest": None,
            "request": None,
            "response": None,
            "deprecated": False,
        }

    def test_the_versions_that_the_server_offers_are_learnt_from_its_answers(self, log: Path) -> None:
        asked = {"clientSoftwareName": "apache-kafka-java", "clientSoftwareVersion": "3.9.2"}
        hello = kafka(18, 3, request=asked, response={"errorCode": 0, "apiKeys": OFFERED})
        rows, _ = read_text(log, hello + kafka(1, 11))
        assert [row["highest"] for row in rows] == [4, 17]
        assert rows[0]["client_software"] == "apache-kafka-java", "Kafka itself knows it only afterwards"

    def test_failed_api_versions_response_offers_no_version(self, log: Path) -> None:
        answer = {"errorCode": 35, "apiKeys": OFFERED[1:]}
        rows, _ = read_text(log, kafka(18, 9, response=answer) + kafka(18, 3, response=answer))
        assert [(row["highest"], row["errors"]) for row in rows] == [(None, [35])] * 2

    def test_a_request_without_an_answer_is_unanswered(self, log: Path) -> None:
        (row,), _ = read_text(log, kafka(0, 9, response=""))
        assert (row["outcome"], row["errors"]) == ("unanswered", [])

    def test_deprecated_api_versions_are_those_of_kafka(self, log: Path) -> None:
        (row,), _ = read_text(log, kafka(2, 0, deprecated=True))
        assert row["deprecated"] is True

    def test_forwarded_request_log_lines_are_left_out(self, log: Path) -> None:
        assert read_text(log, kafka(19, 7, forwarded=True))[0] == []

    def test_other_lines_are_passed_over(self, log: Path) -> None:
        other = "[2026-11-22 03:06:14,000] INFO Started {}, map {\n  a = b\n} (kafka.Server)\n"
        rows, problems = read_text(log, other + kafka() + other)
        assert (len(rows), problems.named, problems.other_lines) == (1, [], 6)

    def test_request_log_times_are_of_the_given_zone(self, log: Path) -> None:
        how = ReadOptions(ZoneInfo("Europe/Berlin"))
        (row,), _ = read_text(log, kafka(took_ms=0), how)
        assert row["time"] == datetime(2026, 11, 22, 2, 6, 14, 601000, tzinfo=UTC)

    def test_bodies_are_there_on_request(self, log: Path) -> None:
        (row,), _ = read_text(log, kafka(request={"replicaId": -1}), ReadOptions(bodies=True))
        assert row["request"] == '{"replicaId":-1}'
        assert json.loads(row["response"])["errorCode"] == 0

    def test_a_json_layout_has_it_in_its_message(self, log: Path) -> None:
        message = kafka(took_ms=1.0).partition("DEBUG ")[2].removesuffix(" (kafka.request.logger)\n")
        (row,), problems = read_text(log, json.dumps({"time": "2026-11-22T03:06:14.5Z", "message": message}) + "\n")
        assert problems.named == []
        assert row["time"] == datetime(2026, 11, 22, 3, 6, 14, 499000, tzinfo=UTC)

    def test_a_packed_log(self, tmp_path: Path) -> None:
        path = tmp_path / "requests.log.gz"
        path.write_bytes(gzip.compress(kafka().encode()))
        assert sum(batch.num_rows for batch in read([path], Problems())) == 1


METADATA = ("METADATA", 13, 2)
ANSWER = {"topics": [{"errorCode": 3, "partitions": []}], "errorCode": 0}


class TestKroxylicious:
    def test_request_and_answer_are_one_row(self, log: Path) -> None:
        text = kroxylicious_json(entry("REQUEST", *METADATA, {}, "app"), "2026-11-22T03:06:14.100Z", "s1")
        text += kroxylicious_json(entry("REQUEST", *METADATA, {}, "other"), "2026-11-22T03:06:14.101Z", "s2")
        text += kroxylicious_json(entry("RESPONSE", *METADATA, ANSWER), "2026-11-22T03:06:14.103Z", "s1")
        text += kroxylicious_json(entry("RESPONSE", *METADATA, {}), "2026-11-22T03:06:14.104Z", "s2")
        rows, problems = read_text(log, text)
        assert problems.named == []
        assert [(row["client_id"], row["connection"], row["latency_us"], row["errors"]) for row in rows] == [
            ("app", "s1", 3000, [3]),
            ("other", "s2", 3000, []),
        ]
        assert {(row["api"], row["version"], row["correlation_id"], row["outcome"]) for row in rows} == {
            ("Metadata", 13, 2, "answered")
        }
        assert rows[0]["time"] == datetime(2026, 11, 22, 3, 6, 14, 100_000, tzinfo=UTC)

    def test_request_log_in_default_layout_has_session_and_seconds(self, log: Path) -> None:
        text = kroxylicious(entry("REQUEST", *METADATA, {"topics": []}, "app"))
        text += "2026-11-22 03:06:15 INFO <main> io.kroxylicious - something else\n"
        text += kroxylicious(entry("RESPONSE", *METADATA, ANSWER), at="2026-11-22 03:06:15")
        (row,), problems = read_text(log, text)
        assert (problems.named, problems.other_lines) == ([], 1)
        assert (row["connection"], row["errors"], row["latency_us"]) == ("s1", [3], None)
        assert row["time"] == datetime(2026, 11, 22, 3, 6, 14, tzinfo=UTC)

    @pytest.mark.parametrize("indent", [2, None], ids=["pretty", "a line each"])
    def test_entries_alone_are_joined_in_their_order(self, log: Path, indent: int | None) -> None:
        halves = [
            entry("REQUEST", *METADATA, {}, "first"),
            entry("REQUEST", *METADATA, {}, "second"),
            entry("RESPONSE", *METADATA, ANSWER),
            entry("RESPONSE", *METADATA, {}),
        ]
        rows, problems = read_text(log, "".join(json.dumps(json.loads(half), indent=indent) + "\n" for half in halves))
        assert problems.named == []
        assert [(row["client_id"], row["errors"], row["time"]) for row in rows] == [
            ("first", [3], None),
            ("second", [], None),
        ]

    def test_software_and_versions_are_those_of_the_session(self, log: Path) -> None:
        asked = {"clientSoftwareName": "franz-go", "clientSoftwareVersion": "1.2"}
        text = kroxylicious(entry("REQUEST", "API_VERSIONS", 3, 1, asked, "app"))
        text += kroxylicious(entry("RESPONSE", "API_VERSIONS", 3, 1, {"errorCode": 0, "apiKeys": OFFERED}))
        text += kroxylicious(entry("REQUEST", "FETCH", 11, 2, {}, "app"))
        text += kroxylicious(entry("RESPONSE", "FETCH", 11, 2, {}))
        rows, _ = read_text(log, text)
        assert [(row["client_software"], row["client_version"], row["highest"]) for row in rows] == [
            ("franz-go", "1.2", 4),
            ("franz-go", "1.2", 17),
        ]

    def test_request_log_line_of_half_an_exchange(self, log: Path) -> None:
        text = kroxylicious(entry("REQUEST", "PRODUCE", 9, 1, {"acks": 0}, "app"))
        text += kroxylicious(entry("REQUEST", "SASL_AUTHENTICATE", 2, 2, None, "app"))
        text += kroxylicious(entry("RESPONSE", *METADATA, {}))
        rows, problems = read_text(log, text)
        assert problems.named == []
        assert [(row["api"], row["client_id"], row["outcome"]) for row in rows] == [
            ("Produce", "app", "unanswered"),
            ("Metadata", None, "answered"),
            ("SaslAuthenticate", "app", None),
        ]

    def test_requests_that_wait_are_bounded(self, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(protocol_log, "MOST_WAITING", 2)
        text = "".join(kroxylicious(entry("REQUEST", "FETCH", 11, number, {}, "app")) for number in range(5))
        rows, problems = read_text(log, text)
        assert ([row["correlation_id"] for row in rows], problems.count) == ([0, 1, 2, 3, 4], 0)

    def test_requests_that_wait_are_bounded_in_characters(self, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(protocol_log, "MOST_WAITING_CHARACTERS", 1_000)
        requests = [entry("REQUEST", "FETCH", 11, number, {"x": "y" * 600}, "app") for number in range(5)]
        answer = entry("RESPONSE", "FETCH", 11, 0, {})
        rows, problems = read_text(log, "".join(map(kroxylicious, [*requests, answer])))
        outcomes = [(row["correlation_id"], row["outcome"]) for row in rows]
        assert outcomes == [(0, None), (1, None), (2, None), (3, None), (0, "answered"), (4, None)]
        assert problems.count == 0

    def test_rows_with_long_bodies_are_in_smaller_batches(self, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reading, "BATCH_CHARACTERS", 1_000)
        log.write_text(kafka(response={"x": "y" * 600}) * 5)
        found = read([log], Problems(), ReadOptions(bodies=True))
        assert [batch.num_rows for batch in found] == [2, 2, 1]


class TestProblems:
    def test_bad_request_log_lines_are_named_and_the_rest_is_read(self, log: Path) -> None:
        good = kafka()
        lines = [
            good,
            good.replace('"isForwarded":', '"isForwarded"'),
            good.replace('"requestApiKey":1,', ""),
            good.replace('"requestApiVersion":4', '"requestApiVersion":"4"'),
            good.replace('"requestApiVersion":4', '"requestApiVersion":40000'),
            good[: len(good) // 2] + "\n",
            "Completed request:[]\n",
            "{ broken\n",
            kroxylicious(entry("REQUEST", "NO_SUCH_API", 1, 1, {})).replace("\n", "") + "\n",
            good,
        ]
        rows, problems = read_text(log, "".join(lines))
        assert len(rows) == 2
        assert {problem.line for problem in problems.named} == set(range(2, 10))
        said = {problem.line: str(problem) for problem in problems.named}
        assert said[2].startswith(f"{log}:2: an entry that is no JSON: ")
        assert said[3] == f"{log}:3: an entry that is no request: KeyError: 'requestApiKey'"
        assert said[5].startswith(f"{log}:5: a value that does not fit: ")
        assert said[8].startswith(f"{log}:8: a line that is no JSON: ")

    def test_a_log_may_end_inside_an_entry(self, log: Path) -> None:
        whole = kroxylicious(entry("REQUEST", "FETCH", 11, 1, {}, "app"))
        rows, problems = read_text(log, whole + whole[: len(whole) // 2])
        assert len(rows) == 1
        assert [problem.what for problem in problems.named] == ["the log ends inside an entry"]

    def test_an_entry_that_never_ends_does_not_fill_the_memory(
        self, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(entries, "MOST", 1000)
        text = '{\n  "header" : {\n' + '    "x" : 1,\n' * 1000 + kafka()
        rows, problems = read_text(log, text)
        assert len(rows) == 1
        assert [problem.what for problem in problems.named] == ["an entry of more than 1000 characters"]

    def test_bytes_that_are_no_text(self, log: Path) -> None:
        log.write_bytes(bytes(range(256)) * 10 + b"\n" + kafka().encode())
        problems = Problems()
        assert sum(batch.num_rows for batch in read([log], problems)) == 1
        assert problems.named == []

    def test_problems_of_a_request_log_are_counted_beyond_those_named(self, log: Path) -> None:
        _, problems = read_text(log, "Completed request:[]\n" * 150)
        assert (problems.count, len(problems.named)) == (150, 100)


def test_every_api_is_known_by_its_name_in_kafkas_enum() -> None:
    assert key_of("FIND_COORDINATOR") == 10
    assert key_of("OFFSET_FOR_LEADER_EPOCH") == 23
    assert key_of("LIST_CLIENT_METRICS_RESOURCES") == key_of("LIST_CONFIG_RESOURCES") == 74
    assert all(key_of(api.name) == api.key for api in registry.apis())
    assert key_of("NOBODY_KNOWS") is None
