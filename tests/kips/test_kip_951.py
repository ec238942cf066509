"""KIP-951: a client with a wrong leader receives the leader's id and address, without a Metadata
request. Each test is named for a statement of the KIP.

Produce sends them with NOT_LEADER_OR_FOLLOWER only, which a single node that leads everything never
answers.
"""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from tests.kips.story import ANY, Story


@pytest.fixture
def story() -> Story:
    """A leader in epoch 1."""
    story = Story()
    story.produce(1)
    story.elect()
    return story


def test_fetch_16_names_the_leader_and_its_endpoint_to_a_fenced_client(story: Story) -> None:
    answer = story.begin_fetch(0, current=0, version=16, wait=0).response
    found = answer.responses[0].partitions[0]
    assert found.error_code == error_codes.FENCED_LEADER_EPOCH
    assert (found.current_leader.leader_id, found.current_leader.leader_epoch) == (1, 1)
    assert [(one.node_id, one.host, one.port, one.rack) for one in answer.node_endpoints] == [
        (1, "127.0.0.1", 9092, None)
    ]


@pytest.mark.parametrize(("current", "code"), [(ANY, 0), (1, 0), (2, error_codes.UNKNOWN_LEADER_EPOCH)])
def test_a_current_or_later_epoch_gets_no_leader(story: Story, current: int, code: int) -> None:
    answer = story.begin_fetch(0, current=current, version=16, wait=0).response
    found = answer.responses[0].partitions[0]
    assert (found.error_code, found.current_leader.leader_id, list(answer.node_endpoints)) == (code, -1, [])


def test_older_versions_get_no_leader(story: Story) -> None:
    answer = story.begin_fetch(0, current=0, version=15, wait=0).response
    assert answer.responses[0].partitions[0].error_code == error_codes.FENCED_LEADER_EPOCH
    assert answer.responses[0].partitions[0].current_leader.leader_id == -1
    assert list(answer.node_endpoints) == []
