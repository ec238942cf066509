"""A leader that is removed from the voters, and loses leadership before any other node has the
change.
"""

from kafkadouble.server.raft.leader_state import LeaderState
from tests.server.raft.changing import Changing, remove


def test_only_the_removed_leader_has_the_longest_log_and_so_it_leads_until_its_removal_is_committed() -> None:
    changing = Changing((1, 2))
    quorum, gone = changing.quorum, changing.id
    (left,) = [id for id in quorum.members if id != gone]
    quorum.isolate(gone)
    changing.ask(remove(gone))
    assert not quorum[gone].is_voter
    quorum.run(10_000)
    assert quorum.leader is None, "one has not fetched the change, the other is not followed"
    quorum.heal()
    assert quorum.run(60_000, until=lambda: isinstance(quorum[left].state, LeaderState))
    quorum.elect()
    quorum.run(2000)
    assert quorum[left].voters.ids == (left,)
    assert quorum[gone].leader_id == left
    assert not quorum[gone].is_needed


def test_a_removed_voter_is_no_candidate() -> None:
    changing = Changing()
    quorum, gone = changing.quorum, changing.id
    changing.ask(remove(gone))
    quorum.elect()
    quorum.run(3000)
    assert not quorum[gone].is_needed
    epoch = quorum[gone].epoch
    quorum.isolate(gone)
    quorum.run(10_000)
    assert quorum[gone].epoch == epoch
