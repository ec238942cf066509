"""Fault rules for the disks of a data directory, with a stepped clock: what Kafka does with an
error of the system (KIP-112), and what is gone when a flush was lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble, KafkaError, UsageError
from kafkadouble.messages import error_codes

FLUSHED = {"flush.messages": 1}


def outcome(kafka: KafkaDouble, topic: str = "t", value: str = "pear", partition: int = 0) -> int:
    """The error code of a produced record."""
    try:
        kafka.produce(topic, value, partition=partition)
    except KafkaError as failed:
        return failed.code
    return 0


def values(kafka: KafkaDouble, topic: str = "t") -> list[bytes | None]:
    return [record.value for record in kafka.records(topic)]


@pytest.mark.parametrize(
    ("action", "fields"), [("disk_full", {}), ("disk_error", {"on": "append"}), ("disk_error", {"on": "flush"})]
)
def test_a_failing_disk_takes_its_directory_offline_until_a_restart(
    tmp_path: Path, action: str, fields: dict[str, str]
) -> None:
    dirs = [str(tmp_path / "a"), str(tmp_path / "b")]
    with KafkaDouble(data_dir=dirs, stepped=True) as kafka:
        kafka.create_topic("t", partitions=4, config=FLUSHED)
        handle = getattr(kafka, action)(log_dir=dirs[1], **fields)
        outcomes = [outcome(kafka, partition=index) for index in range(4)] * 2
        assert set(outcomes) == {0, error_codes.KAFKA_STORAGE_ERROR}
        assert handle.hits == 1
    with KafkaDouble(data_dir=dirs, stepped=True) as kafka:
        assert [outcome(kafka, partition=index) for index in range(4)] == [0] * 4


def test_disk_error_on_read_takes_the_directory_offline(tmp_path: Path) -> None:
    dirs = [str(tmp_path / "a"), str(tmp_path / "b")]
    with KafkaDouble(data_dir=dirs, stepped=True) as kafka:
        kafka.create_topic("t", partitions=2)
        kafka.produce("t", "pear", partition=0)
        kafka.produce("t", "pear", partition=1)
        handle = kafka.disk_error(on="read", log_dir=dirs[1])
        outcomes = []
        for index in (0, 1):
            try:
                outcomes.append(len(kafka.records("t", partition=index)))
            except KafkaError as failed:
                outcomes.append(failed.code)
        assert sorted(outcomes) == [1, error_codes.KAFKA_STORAGE_ERROR]
        assert handle.hits == 1


def test_the_leader_moves_and_the_broker_comes_back(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path, brokers=3, stepped=True, seed=1) as kafka:
        kafka.create_topic("t", replication_factor=3)
        first = kafka.wait_for_leader("t", 0)
        outcome(kafka)
        with kafka.disk_full(broker=first) as handle:
            assert outcome(kafka) == error_codes.KAFKA_STORAGE_ERROR
            kafka.advance(20)
            assert (handle.hits, kafka.brokers[first].running) == (1, False)
        assert kafka.leader("t", 0) != first
        assert kafka.isr("t", 0) == sorted({1, 2, 3} - {first})
        kafka.brokers[first].start()
        kafka.advance(60)
        assert kafka.isr("t", 0) == [1, 2, 3]
        assert len(values(kafka)) == 1


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_a_single_broker_without_its_directory_starts_again(tmp_path: Path, end: str) -> None:
    with KafkaDouble(data_dir=tmp_path, stepped=True) as kafka:
        kafka.produce("t", "kept")
        with kafka.disk_full():
            assert outcome(kafka) == error_codes.KAFKA_STORAGE_ERROR
        getattr(kafka.brokers[1], end)()
        kafka.brokers[1].start()
        kafka.produce("t", "next")
        assert values(kafka) == [b"kept", b"next"]


def test_a_lost_flush_is_gone_after_a_kill(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path, brokers=2, stepped=True) as kafka:
        kafka.create_topic("t", config=FLUSHED)
        kafka.create_topic("other", config=FLUSHED)
        leader = kafka.brokers[kafka.leader("t", 0) or 0]
        kafka.produce("t", "kept")
        with kafka.lose_flushes(topic="t") as handle:
            kafka.produce("t", "lost")
            kafka.produce("other", "kept")
            assert values(kafka) == [b"kept", b"lost"]
        leader.kill()
        leader.start()
        kafka.advance(60)
        assert handle.hits == 1
        assert (values(kafka), values(kafka, "other")) == ([b"kept"], [b"kept"])
        kafka.produce("t", "next")
        leader.kill()
        leader.start()
        kafka.advance(60)
        assert values(kafka) == [b"kept", b"next"]


def test_a_later_flush_saves_what_an_earlier_one_lost(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path, brokers=2, stepped=True) as kafka:
        kafka.create_topic("t", config=FLUSHED)
        leader = kafka.brokers[kafka.leader("t", 0) or 0]
        handle = kafka.lose_flushes(topic="t", times=1, on_call=2)
        for value in ("one", "two", "three"):
            kafka.produce("t", value)
        assert (handle.hits, kafka.rules) == (1, [])
        leader.kill()
        leader.start()
        kafka.advance(60)
        assert values(kafka) == [b"one", b"two", b"three"]


def test_whole_segments_are_lost(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path, brokers=2, stepped=True) as kafka:
        kafka.create_topic("t", config={**FLUSHED, "segment.bytes": 1_048_576})
        leader = kafka.brokers[kafka.leader("t", 0) or 0]
        kafka.produce("t", "kept")
        kafka.lose_flushes()
        for _ in range(4):
            kafka.produce("t", "x" * 800_000)
        folder = tmp_path / f"broker-{leader.id}" / "t-0"
        assert len([*folder.glob("*.log")]) == 4
        leader.kill()
        assert len([*folder.glob("*.log")]) == 1
        leader.start()
        kafka.advance(60)
        assert values(kafka) == [b"kept"]


def test_clean_shutdown_under_disk_faults_loses_no_record(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path, brokers=2, stepped=True) as kafka:
        kafka.create_topic("t", config=FLUSHED)
        leader = kafka.brokers[kafka.leader("t", 0) or 0]
        kafka.lose_flushes()
        kafka.produce("t", "kept")
        leader.stop()
        leader.start()
        kafka.advance(60)
        assert values(kafka) == [b"kept"]


def test_a_slow_disk_holds_what_must_be_flushed(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path, stepped=True) as kafka:
        kafka.create_topic("t", config=FLUSHED)
        kafka.create_topic("other")
        handle = kafka.disk_slow(5, topic="t")
        with ThreadPoolExecutor(1) as pool:
            produced = pool.submit(outcome, kafka)
            handle.wait()
            kafka.advance(4)
            assert (values(kafka), produced.done()) == ([], False)
            kafka.produce("other", "pear")
            kafka.advance(1)
            assert produced.result(10) == 0
        assert values(kafka) == [b"pear"]


def test_trigger_of_a_disk_rule_counts_disk_operations(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=[tmp_path / "a", tmp_path / "b"], stepped=True) as kafka:
        kafka.create_topic("t", partitions=2)
        index = 0 if (tmp_path / "b" / "t-0").exists() else 1
        kafka.disk_full(topic="t", partition=index, on_call=3, after_seconds=10, for_seconds=10)
        outcomes = []
        for _ in range(4):
            outcomes += [outcome(kafka, partition=index), outcome(kafka, partition=index)]
            kafka.advance(6)
        failed = error_codes.KAFKA_STORAGE_ERROR
        assert outcomes == [0, 0, 0, 0, 0, 0, failed, failed]


def test_the_same_seed_fails_the_same_operation(tmp_path: Path) -> None:
    def failed_at(name: str) -> list[int]:
        with KafkaDouble(data_dir=[tmp_path / name / "a", tmp_path / name / "b"], stepped=True) as kafka:
            kafka.create_topic("t", partitions=2)
            index = 0 if (tmp_path / name / "b" / "t-0").exists() else 1
            kafka.disk_full(partition=index, probability=0.2, seed=4)
            return [outcome(kafka, partition=index) for _ in range(20)]

    first = failed_at("first")
    assert first == failed_at("second")
    assert set(first) == {0, error_codes.KAFKA_STORAGE_ERROR}


def test_invalid_disk_fault_is_refused(tmp_path: Path) -> None:
    with KafkaDouble() as kafka, pytest.raises(UsageError, match=r"the logs are in memory.*: give data_dir"):
        kafka.disk_full()
    with KafkaDouble(data_dir=tmp_path / "x") as kafka:
        with pytest.raises(UsageError, match="there is no log directory '/nowhere': there are"):
            kafka.disk_full(log_dir="/nowhere")
        with pytest.raises(UsageError, match="a disk has no client_id; a rule for disks is narrowed by topic"):
            kafka.disk_full(client_id="c")  # type: ignore[call-arg]
        with pytest.raises(UsageError, match="on of a rule is append or read or flush, not 'write'"):
            kafka.disk_error("write")
        assert (kafka.rules, kafka.unused_rules) == ([], [])
