"""A wide request that a broker forwards is read and written aside at both ends (KIP-590)."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.server.requests.aside_codec import WIDE
from kafkadouble.server.requests.request import Peer, Request
from kafkadouble.server.requests.waiting import Aside, HandlerTask
from tests.simulation.brokers.cluster import Cluster
from tests.simulation.brokers.shape import Shape
from tests.simulation.world import World

BAD = "bad name"
WRITTEN_AND_READ = 2


@pytest.mark.parametrize(("topics", "asides"), [(2, 0), (WIDE // len(BAD), WRITTEN_AND_READ)])
def test_the_codec_of_a_forwarded_request_runs_aside_if_it_is_wide(topics: int, asides: int) -> None:
    cluster = Cluster(World(7), Shape(combined=True, controllers=3, brokers=3, replicas=1, elr=False))
    cluster.begin()
    nodes = [member.node for member in cluster.members.values() if member.node is not None]
    (leader,) = [node for node in nodes if node.controller.leads]
    follower = next(node for node in nodes if node is not leader)
    done = Counter[int]()

    def at_once(id: int, aside: Aside, task: HandlerTask) -> None:
        done[id] += 1
        aside.run()
        task.woken()

    for node in nodes:
        node.waiting.aside = partial(at_once, node.id)
    body = CreateTopicsRequest(topics=[CreateTopicsRequest.CreatableTopic(name=f"{BAD} {at}") for at in range(topics)])
    peer, size = Peer(5, "client", 1, follower.listeners[0]), len(body.encode(7))
    request = Request(ApiKeys.CREATE_TOPICS, 7, 1, "client", body, peer, follower.now, size)
    answers: list[Any] = []
    follower.submit(request, answers.append, follower.now)
    cluster.world.run_for(2000)
    assert [len(answer.topics) for answer in answers] == [topics]
    assert (done[follower.id], done[leader.id]) == (asides, asides)
