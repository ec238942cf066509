"""Random requests to the APIs of topics, configurations and metadata: none breaks a handler, and
the replayed log still equals the image.

Values are drawn from what means something (names that exist, look alike or are invalid; numbers
around the bounds), so that most requests get past the first check. A failure prints its seed.
"""

from __future__ import annotations

import logging
import sys
from random import Random
from typing import Any

import pytest

from kafkadouble.server import dispatch
from kafkadouble.server.apis.served import SERVED
from tests.server.handlers.random_requests import Maker
from tests.server.harness import Harness
from tests.server.images import image_of_log

APIS = (
    "ApiVersions",
    "AlterConfigs",
    "CreatePartitions",
    "CreateTopics",
    "DeleteTopics",
    "DescribeCluster",
    "DescribeConfigs",
    "DescribeTopicPartitions",
    "IncrementalAlterConfigs",
    "InitProducerId",
    "ListConfigResources",
    "Metadata",
)
REQUESTS = 1500


@pytest.fixture(autouse=True)
def _levels_of_loggers() -> Any:
    loggers = [logging.getLogger(name) for name in ("kafkadouble", "kafkadouble.server")]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


@pytest.mark.parametrize("seed", range(2))
def test_random_requests_break_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def unforeseen(request: Any) -> None:
        raise AssertionError(f"seed {seed}: {request!r} broke its handler") from sys.exception()

    monkeypatch.setattr(dispatch, "unforeseen", unforeseen)
    cluster = Harness()
    random = Random(seed)
    maker = Maker(random, cluster)
    served = {api.name: api for api in SERVED.values()}
    answered = 0
    for _ in range(REQUESTS):
        api = served[random.choice(APIS)]
        version = random.randint(api.lowest, api.highest)
        request = maker.struct(api.api.request, version)
        assert cluster.submit(request, version) is not None
        answered += 1
    assert answered == REQUESTS
    assert image_of_log(cluster.node.controller.log.batches(0)) == cluster.image
    led = {(partition.topic, partition.index) for partition in cluster.node.partitions}
    assert led == {(topic.name, index) for topic in cluster.image.topics.values() for index in topic.partitions}
