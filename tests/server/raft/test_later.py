"""Functions that are named, and imported when they are called: every name is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kafkadouble.server.raft import (
    kafka_raft_client,
    leader_actions,
    prospective_state,
    request_handlers,
    response_handlers,
    state_polls,
)
from kafkadouble.server.raft.candidate_state import CandidateState
from kafkadouble.server.raft.follower_state import FollowerState
from kafkadouble.server.raft.lazy_import import LazyImport
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.resigned_state import ResignedState
from kafkadouble.server.raft.unattached_state import UnattachedState

STATES = (
    LeaderState,
    ResignedState,
    FollowerState,
    UnattachedState,
    prospective_state.ProspectiveState,
    CandidateState,
)


def laters(of: Mapping[str, Any]) -> list[LazyImport]:
    return [each for each in of.values() if isinstance(each, LazyImport)]


TABLES: list[Mapping[Any, Any]] = [request_handlers.HANDLERS, response_handlers.HANDLERS, state_polls.POLLS]
ALL = [later for table in (*TABLES, vars(leader_actions), vars(kafka_raft_client)) for later in laters(table)]


@pytest.mark.parametrize("later", ALL, ids=repr)
def test_every_name_is_a_function(later: LazyImport) -> None:
    with pytest.raises(TypeError, match="argument"):  # of the function, which was found
        later()


def test_every_raft_state_has_a_transition_row() -> None:
    assert {state.__name__ for state in STATES} == set(state_polls.POLLS)
