"""`seed` with data directories: each run chooses the same ids as the same run of another directory,
and no id of an earlier run."""

from __future__ import annotations

import signal
from pathlib import Path

from kafkadouble import KafkaDouble
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.server.metadata.image import BrokerImage, ControllerImage, Image
from tests.support.serving import serving

LIVES = 2


def ids_of(image: Image) -> list[str]:
    """The ids of the topics, and the incarnation ids with which the nodes registered in this
    run."""
    registered: list[BrokerImage | ControllerImage] = [*image.brokers.values(), *image.controllers.values()]
    return [
        *(str(topic.id) for _, topic in sorted((topic.name, topic) for topic in image.topics.values())),
        *sorted(str(each.incarnation_id) for each in registered),
    ]


def lives_of_one(folder: Path) -> list[str]:
    found: list[str] = []
    for life in range(LIVES):
        with KafkaDouble(seed=1, data_dir=folder, stepped=True) as kafka:
            kafka.create_topic(f"t{life}")
            kafka.produce(f"t{life}", "a")
            assert all(len(kafka.records(f"t{number}")) == 1 for number in range(life + 1))
            found += ids_of(kafka._double_host.serving().broker.image)
    return found


def test_a_single_node_gives_no_id_twice(tmp_path: Path) -> None:
    found = lives_of_one(tmp_path / "one")
    topics, registrations = LIVES, 2 * LIVES
    assert len(set(found)) == topics + registrations
    assert found == lives_of_one(tmp_path / "other"), "the same seed and the same lives, the same ids"


def lives_of_three(folder: Path) -> list[str]:
    found: list[str] = []
    for life in range(LIVES):
        with KafkaDouble(seed=1, brokers=3, data_dir=folder, stepped=True) as kafka:
            kafka.create_topic(f"t{life}", replication_factor=3)
            for ends in ("stop", "kill"):
                getattr(kafka.brokers[2], ends)()
                kafka.brokers[2].start()
                kafka.advance(12)  # longer than a broker session
                image = kafka._double_host.serving().broker.image
                assert len(image.live_brokers()) == 3
                assert not any(broker.in_controlled_shutdown for broker in image.brokers.values())
                found += ids_of(image)
    return found


def test_brokers_that_restart_alone_and_together_are_other_incarnations(tmp_path: Path) -> None:
    found = lives_of_three(tmp_path / "one")
    # One controller, three brokers; one broker starts a second time.
    topics, registrations = LIVES, LIVES * (1 + 3 + 1)
    assert len(set(found)) == topics + registrations
    assert found == lives_of_three(tmp_path / "other"), "the same seed and the same lives, the same ids"


def test_a_process_goes_on_with_its_seed(tmp_path: Path) -> None:
    for life, number in enumerate((signal.SIGTERM, signal.SIGKILL, signal.SIGTERM)):
        with serving("--seed", "1", "--data-dir", str(tmp_path), "--topic", f"t{life}") as served:
            topics = served.ask(MetadataRequest(topics=None), 12).topics
            assert {topic.name for topic in topics} == {f"t{number}" for number in range(life + 1)}
            assert served.end(number)[0] in (0, -signal.SIGKILL)
