"""KafkaDouble with several data directories: each broker moves its replica between them, and the
records are there after a restart."""

from __future__ import annotations

import operator
from functools import partial
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.messages.generated.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from kafkadouble.messages.generated.describe_log_dirs import DescribeLogDirsRequest
from tests.support.client import ask
from tests.support.waiting import eventually


def places(bootstrap: str) -> dict[str, bool]:
    """The directories of t-0 on a broker, and whether it is there in the future."""
    return {
        result.log_dir: partition.is_future_key
        for result in ask(bootstrap, DescribeLogDirsRequest(topics=None), 4).results
        for topic in result.topics
        for partition in topic.partitions
        if topic.name == "t"
    }


def move(bootstrap: str, path: str) -> int:
    of = AlterReplicaLogDirsRequest
    topics = [of.AlterReplicaLogDirTopic(name="t", partitions=[0])]
    answer = ask(bootstrap, of(dirs=[of.AlterReplicaLogDir(path=path, topics=topics)]), 2)
    code: int = answer.results[0].partitions[0].error_code
    return code


@pytest.mark.parametrize("brokers", [1, 2])
def test_each_broker_moves_its_replica(tmp_path: Path, brokers: int) -> None:
    dirs = [tmp_path / "one", tmp_path / "two"]
    with KafkaDouble(brokers=brokers, data_dir=dirs) as kafka:
        kafka.create_topic("t", replication_factor=brokers)
        for number in range(100):
            kafka.produce("t", b"%d" % number * 1000)
        for bootstrap in kafka.bootstrap_servers.split(","):
            results = ask(bootstrap, DescribeLogDirsRequest(topics=None), 4).results
            target: str = next(result.log_dir for result in results if result.log_dir not in places(bootstrap))
            assert move(bootstrap, target) == 0
            eventually(partial(places, bootstrap), partial(operator.eq, {target: False}))
        kafka.produce("t", b"more")
        assert kafka.end_offsets("t") == {0: 101}
    with KafkaDouble(brokers=brokers, data_dir=dirs) as kafka:
        values = [record.value or b"" for record in kafka.records("t")]
        assert [value[:2] for value in values[98:]] == [b"98", b"99", b"mo"]
