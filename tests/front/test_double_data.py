"""What a KafkaDouble holds: topics and records."""

from __future__ import annotations

import threading

import pytest

from kafkadouble import KafkaDouble, KafkaError, UsageError
from kafkadouble.wire.batch import Record, encode_batch, encode_control_batch
from tests.server.harness import NOW


class TestTopicsAndRecords:
    def test_topic_is_created_and_deleted(self, kafka: KafkaDouble) -> None:
        kafka.create_topic("t", 3, {"cleanup.policy": "compact", "min.insync.replicas": 1})
        with pytest.raises(KafkaError) as refused:
            kafka.create_topic("t")
        assert (refused.value.error, refused.value.code) == ("TOPIC_ALREADY_EXISTS", 36)
        kafka.delete_topic("t")
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            kafka.delete_topic("t")
        with pytest.raises(KafkaError, match="INVALID_CONFIG"):
            kafka.create_topic("t", config={"cleanup.policy": "sometimes"})
        with pytest.raises(KafkaError, match="INVALID_TOPIC_EXCEPTION"):
            kafka.create_topic("no spaces")

    def test_produced_records_are_returned_by_records(self, kafka: KafkaDouble) -> None:
        kafka.create_topic("t", 2)
        assert kafka.produce("t", "value", "key", {"a": "1", "b": None}, partition=1, timestamp=NOW) == 0
        assert kafka.produce("t", None, b"\xff", [("a", b"1"), ("a", b"2")], partition=1, timestamp=NOW) == 1
        first, second = kafka.records("t", 1)
        assert first == ("t", 1, 0, NOW, b"key", b"value", (("a", b"1"), ("b", None)))
        assert (second.key, second.value, second.headers) == (b"\xff", None, (("a", b"1"), ("a", b"2")))
        assert kafka.records("t", 0) == []
        assert kafka.records("t") == [first, second]

    def test_keys_are_spread_as_kafkas_producer_does_and_the_rest_takes_turns(self, kafka: KafkaDouble) -> None:
        kafka.create_topic("t", 3)
        for key in ("a", "b", "c", "a"):
            kafka.produce("t", key, key)
        by_key = {record.key: record.partition for record in kafka.records("t")}
        assert len({(record.key, record.partition) for record in kafka.records("t")}) == len(by_key) == 3
        for _ in range(6):
            kafka.produce("t", "no key")
        keyless = [record.partition for record in kafka.records("t") if record.key is None]
        assert sorted(keyless) == [0, 0, 1, 1, 2, 2]

    def test_a_topic_is_created_by_producing_if_the_broker_does_so(self) -> None:
        with KafkaDouble(config={"num.partitions": 2}) as kafka:
            kafka.produce("new", "x", partition=1)
            assert len(kafka.records("new")) == 1
        settings = {"auto.create.topics.enable": False}
        with KafkaDouble(config=settings) as kafka, pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            kafka.produce("new", "x")

    def test_a_partition_that_is_not_there(self, kafka: KafkaDouble) -> None:
        kafka.create_topic("t")
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            kafka.produce("t", "x", partition=5)
        with pytest.raises(KafkaError, match="there is no t-5"):
            kafka.records("t", 5)

    def test_record_that_is_too_large_or_of_a_wrong_type_is_refused(self, kafka: KafkaDouble) -> None:
        kafka.create_topic("t", config={"max.message.bytes": 1000})
        with pytest.raises(KafkaError, match="MESSAGE_TOO_LARGE"):
            kafka.produce("t", b"x" * 2000)
        with pytest.raises(UsageError, match="bytes, a text or None, not 12"):
            kafka.produce("t", 12)  # type: ignore[arg-type]  # the mistake that is tested

    def test_records_read_committed_leave_out_open_and_aborted_transactions(self, kafka: KafkaDouble) -> None:
        kafka.create_topic("t")
        log = kafka._double_host.serving().broker.node.partitions.of_topic("t")[0]

        def write(producer: int, value: bytes) -> None:
            batch = encode_batch(
                [Record(0, NOW, None, value)], producer_id=producer, producer_epoch=0, is_transactional=True, seal=False
            )
            kafka._double_host.call(lambda: log.append_own(bytes(batch), NOW))

        def end(producer: int, kind: int) -> None:
            marker = encode_control_batch(
                kind, bytes(6), timestamp=NOW, producer_id=producer, producer_epoch=0, seal=False
            )
            kafka._double_host.call(lambda: log.append_own(bytes(marker), NOW))

        abort, commit = 0, 1
        write(1, b"aborted")
        write(2, b"committed")
        end(1, abort)
        end(2, commit)
        write(1, b"committed later")
        end(1, commit)
        kafka.produce("t", "plain")
        write(3, b"open")
        kafka.produce("t", "behind the open one")
        everything = [record.value for record in kafka.records("t")]
        assert everything == [b"aborted", b"committed", b"committed later", b"plain", b"open", b"behind the open one"]
        committed = [record.value for record in kafka.records("t", isolation="read_committed")]
        assert committed == [b"committed", b"committed later", b"plain"]
        with pytest.raises(UsageError, match="read_uncommitted or read_committed"):
            kafka.records("t", isolation="dirty")  # type: ignore[arg-type]

    def test_produce_from_many_threads_stores_each_record(self, kafka: KafkaDouble) -> None:
        kafka.create_topic("t", 4)

        def work(worker: int) -> None:
            for number in range(50):
                kafka.produce("t", f"{worker}-{number}")

        workers = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        values = {record.value for record in kafka.records("t")}
        assert len(values) == 300
