"""Random requests and responses: each is handled, nothing breaks, and committed records stay."""

from random import Random
from typing import Any

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.message import Message
from kafkadouble.server.raft.leader_state import MAX_OBSERVERS, LeaderState
from kafkadouble.wire.errors import UsageError
from tests.server.raft.asking import ask, begin, describe, end, fetch, shown, vote
from tests.server.raft.changing import add, remove, update
from tests.server.raft.corrupt_messages import spoilt
from tests.server.raft.quorum import Quorum, directory

APIS = (52, 53, 54, 1, 55, 80, 81, 82)


def some(random: Random, epoch: int) -> Message:
    """A request that makes sense, more or less."""
    id, other = random.choice([1, 2, 3, 9]), random.choice([1, 2, 3])
    return random.choice(
        [
            vote(epoch + random.randrange(2), id, (random.randrange(4), epoch), voter=other, pre=random.random() < 0.5),
            begin(id, epoch, voter=other),
            end(id, epoch),
            fetch(id, random.randrange(5), random.randrange(epoch + 1), epoch=epoch, wait=random.choice([0, 300])),
            describe(),
            add(id),
            remove(id),
            update(id, epoch),
        ]
    )


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_every_request_is_answered_and_committed_records_stay(seed: int, dynamic: bool) -> None:
    random = Random(seed)
    quorum = Quorum(dynamic=dynamic)
    quorum.elect()
    quorum.write(b"stays")
    for _ in range(120):
        member = quorum.members[random.choice([1, 2, 3])]
        body = some(random, member.replica.epoch)
        spoilt(body, random)
        low, high = body.versions
        version = random.randint(low, high)
        try:
            body.encode(version)
        except UsageError:
            continue  # no client could send it
        answers = member.ask(body, version, quorum.now)
        if random.random() < 0.3:
            quorum.run(random.choice([1, 50, 600]))
        for answer in answers:
            assert isinstance(answer, registry.api(body.api_key or 0).response)
        assert member.replica.failure is None
    for id in (1, 2, 3):
        assert quorum[id].failure is None
        assert quorum.listener(id).values[:1] in ([b"stays"], [])
        assert quorum[id].log.high_watermark <= quorum[id].log.end_offset


@pytest.mark.parametrize("api", APIS)
def test_an_empty_request_of_each_api_is_answered_in_every_version(api: int) -> None:
    of = registry.api(api)
    low, high = of.request.versions
    for version in range(low, high + 1):
        quorum = Quorum([1])
        quorum.run(1)
        before = shown(quorum[1])
        (answer,) = quorum.members[1].ask(of.request(), version, quorum.now)
        assert isinstance(answer, of.response)
        assert shown(quorum[1]) == before


def test_an_api_that_is_not_the_quorums_is_a_callers_mistake() -> None:
    quorum = Quorum([1])
    body: Any = registry.message("MetadataRequest")
    with pytest.raises(UsageError):
        quorum.members[1].ask(body(), 1, quorum.now)


def test_fetching_strangers_take_no_more_memory_than_allowed() -> None:
    quorum = Quorum([1])
    quorum.run(1)
    for id in range(100, 100 + MAX_OBSERVERS + 300):
        ask(quorum.members[1], fetch(id, 1, 1, epoch=1, directory_id=directory(1)), now=quorum.now)
    assert isinstance(quorum[1].state, LeaderState)
    assert len(quorum[1].state.observers) == MAX_OBSERVERS


@pytest.mark.parametrize("seed", range(6))
def test_random_raft_responses_keep_the_replica_running(seed: int) -> None:
    random = Random(seed)
    quorum = Quorum(dynamic=bool(seed % 2))
    quorum.elect()
    quorum.write(b"stays")
    for _ in range(150):
        quorum.tick()
        for id in quorum.alive:
            for send in quorum[id].take_outgoing():
                if random.random() < 0.2:
                    quorum[id].answered(send.token, _answer(quorum, send, random), quorum.now)
                else:
                    quorum._deliver(id, send)
        quorum.settle()
        quorum.run(random.choice([1, 100, 700]))
    for id in (1, 2, 3):
        assert quorum.listener(id).values[:1] in ([b"stays"], [])


def _answer(quorum: Quorum, send: Any, random: Random) -> Any:
    """A corrupted response of a node; never one that would rightly stop a replica."""
    requested = quorum.members[random.choice([1, 2, 3])]
    if send.body.api_key == ApiKeys.API_VERSIONS:
        return None
    response = requested.ask(send.body, send.version, quorum.now)
    if not response:
        return None
    spoilt(response[0], random)
    if getattr(response[0], "error_code", 0) == 31:
        return None
    for topic in getattr(response[0], "responses", ()):
        for partition in topic.partitions:
            partition.diverging_epoch = None
            partition.high_watermark = -1
    return response[0]
