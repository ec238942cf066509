"""What one open page, or several, cost a server: the views that are made, the bytes that are sent,
and the steps on the brokers' thread."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.control.http.streams import event
from kafkadouble.control.views import topic_pieces
from kafkadouble.control.views.shared_views import BYTES_PER_S, IDLE_SHARE, PAUSE_S, SharedViews, shared_views
from kafkadouble.control.views.view_events import VIEWS
from kafkadouble.messages.generated.create_partitions import CreatePartitionsRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.topics.partition_state import STEP
from kafkadouble.verbs.registry import VERBS
from tests.support.executed_lines import executed_lines

PARTITIONS = 1_000


class Time:
    """The time, and how long each look at it takes, in seconds."""

    def __init__(self) -> None:
        self.now, self.each = 100.0, 0.0

    def __call__(self) -> float:
        self.now += self.each
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(seed=1) as started:
        yield started


@pytest.fixture
def views(kafka: KafkaDouble, time: Time) -> SharedViews:
    return SharedViews(kafka, time)


def changed(views: SharedViews, time: Time, name: str = "topics") -> Any:
    time.now += 1_000
    return json.loads(views.look(name)[0].partition("data: ")[2])


def test_the_text_of_the_topics_is_that_of_the_verb(kafka: KafkaDouble, views: SharedViews, time: Time) -> None:
    assert changed(views, time) == {}
    wide = 2 * STEP + 1
    changes: list[Callable[[], object]] = [
        lambda: kafka.create_topic("one"),
        lambda: kafka.create_topic("wide", wide, config={"retention.ms": "1000"}),
        lambda: kafka.produce("wide", "x", partition=STEP),
        lambda: kafka.bump_epoch("one", 0),
        lambda: kafka._double_host.ask(CreatePartitionsRequest(topics=[grown("one", 3)], timeout_ms=1000)),
        lambda: kafka._double_host.ask(IncrementalAlterConfigsRequest(resources=[altered("wide")])),
        lambda: kafka.create_topic("another"),
        lambda: kafka.delete_topic("wide"),
        lambda: kafka.reset(),
    ]
    for change in changes:
        change()
        changed(views, time)
        assert views.look("topics")[0] == event("topics", VERBS["topics"].call_json(kafka, {}))


def grown(name: str, count: int) -> CreatePartitionsRequest.CreatePartitionsTopic:
    return CreatePartitionsRequest.CreatePartitionsTopic(name=name, count=count, assignments=None)


def altered(name: str) -> IncrementalAlterConfigsRequest.AlterConfigsResource:
    of = IncrementalAlterConfigsRequest
    config = of.AlterableConfig(name="retention.ms", config_operation=0, value="5")
    return of.AlterConfigsResource(resource_type=2, resource_name=name, configs=[config])


def test_topic_views_are_made_again_only_if_changed(kafka: KafkaDouble, views: SharedViews, time: Time) -> None:
    kafka.create_topic("wide", 4 * STEP)
    changed(views, time)
    assert views.topics.made == 4
    changed(views, time)
    assert views.topics.made == 4
    kafka.produce("wide", "x", partition=0)
    changed(views, time)
    assert views.topics.made == 5


def test_a_large_view_is_made_as_often_as_its_bytes_allow(kafka: KafkaDouble, views: SharedViews, time: Time) -> None:
    kafka.create_topic("wide", PARTITIONS)
    sent = 0
    seen = ""
    for number in range(400):  # a page looks four times a second, for 100 s, while a client writes
        kafka.produce("wide", "x", partition=number % PARTITIONS)
        text, _ = views.look("topics")
        sent += len(text) if text != seen else 0
        seen = text
        time.now += PAUSE_S
    size = len(seen)
    assert size > 100_000
    assert sent <= 100 * BYTES_PER_S + size
    assert views.made["topics"] <= 100 * BYTES_PER_S // size + 1


def test_a_view_that_takes_long_is_made_seldom(views: SharedViews, time: Time) -> None:
    time.each = 0.1
    views.look("groups")
    assert views.look("groups")[1] == pytest.approx(PAUSE_S - 0.2), "the first time does not count"
    time.now += PAUSE_S
    views.look("groups")
    assert views.look("groups")[1] == pytest.approx(0.1 * IDLE_SHARE - 0.2)
    assert views.made == {"groups": 2}


def test_a_view_that_was_held_back_is_looked_at_again(kafka: KafkaDouble, views: SharedViews, time: Time) -> None:
    before, _ = views.look("topics")
    kafka.create_topic("orders")
    text, wait_s = views.look("topics")
    assert (text, wait_s) == (before, PAUSE_S)
    time.now += wait_s
    text, wait_s = views.look("topics")
    assert ("orders" in text, wait_s) == (True, 0)


def test_a_view_is_made_once_for_all_pages(kafka: KafkaDouble) -> None:
    assert shared_views(kafka) is shared_views(kafka)
    for _ in range(32):
        for name in VIEWS:
            shared_views(kafka).look(name)
    assert sum(shared_views(kafka).made.values()) < 2 * len(VIEWS)


def test_a_step_on_the_thread_of_the_brokers_is_as_wide_with_more_partitions(
    kafka: KafkaDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in lines that are executed. A step of 256 partitions takes some milliseconds."""
    steps: list[int] = []
    look = topic_pieces.TopicPieces._look

    def counted(pieces: topic_pieces.TopicPieces, *arguments: Any) -> Any:
        found: list[Any] = []
        steps.append(executed_lines(lambda: found.append(look(pieces, *arguments))))
        return found[0]

    monkeypatch.setattr(topic_pieces.TopicPieces, "_look", counted)
    kafka.create_topic("wide", 2 * STEP)
    for number in range(2 * STEP):
        kafka.create_topic(f"t{number}")
    topic_pieces.TopicPieces().text(kafka)
    assert len(steps) == 4
    assert max(steps) < 300 * STEP
