"""An image is a value: a reader keeps it while the node continues, and a change costs the same
however large the image is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from tests.server.harness import Harness


def delete(cluster: Harness, name: str) -> None:
    state = DeleteTopicsRequest.DeleteTopicState(name=name)
    response = cluster.submit(DeleteTopicsRequest(topics=[state], timeout_ms=1000), 6)
    assert [result.error_code for result in response.responses] == [0]


def test_an_old_image_stays_what_it_was() -> None:
    cluster = Harness()
    cluster.create("kept", "gone", "changed", configs={"retention.ms": "1"})
    old, before = cluster.image, repr(sorted(cluster.image.topics.items()))
    configs = dict(old.configs)
    delete(cluster, "gone")
    cluster.create("new", partitions=4)
    cluster.node.controller.create_internal_topic("__consumer_offsets")
    cluster.node.controller.producer_ids.next()
    assert repr(sorted(old.topics.items())) == before
    assert dict(old.configs) == configs
    assert old.topic_named("new") is None
    assert old.topic_named("gone") is not None
    assert old.next_producer_id == 0
    assert cluster.image.topic_named("gone") is None


def test_unchanged_parts_of_an_image_are_shared() -> None:
    cluster = Harness()
    cluster.create("kept", partitions=3)
    old = cluster.image
    cluster.create("new")
    assert cluster.image.topic_named("kept") is old.topic_named("kept")
    assert cluster.image.brokers is old.brokers
    assert cluster.image.configs is old.configs


def calls(action: Callable[[], None]) -> int:
    """The number of function calls: a measure of work that other load on the machine does not
    change.
    """
    counted = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return counted


def test_the_two_thousandth_topic_costs_what_the_tenth_did() -> None:
    cluster = Harness()
    cluster.create(*(f"t.{number}" for number in range(9)))
    tenth = calls(lambda: cluster.create("t.9"))
    cluster.create(*(f"t.{number}" for number in range(10, 1999)))
    two_thousandth = calls(lambda: cluster.create("t.1999"))
    assert len(cluster.image.topics) == 2000
    assert two_thousandth < 1.2 * tenth


def test_topics_of_one_request_cost_the_same_each() -> None:
    few, many = Harness(), Harness()
    for cluster in (few, many):
        cluster.create("first")  # whatever is made once
    of_few = calls(lambda: few.create(*(f"t.{number}" for number in range(20))))
    of_many = calls(lambda: many.create(*(f"t.{number}" for number in range(400))))
    assert of_many < 20 * of_few * 1.2


def test_deletion_of_a_topic_costs_the_same_among_many() -> None:
    few, many = Harness(), Harness()
    few.create("t0", "gone", "first")
    many.create(*(f"t{number}" for number in range(1000)), "gone", "first")
    for cluster in (few, many):
        delete(cluster, "first")  # whatever is made once
    assert calls(lambda: delete(many, "gone")) < 1.2 * calls(lambda: delete(few, "gone"))
