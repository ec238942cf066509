"""Functions that are named, and imported when they are called: every name is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kafkadouble.server.raft import answering, handling, leading, polling, prospective, replica
from kafkadouble.server.raft.candidate import Candidate
from kafkadouble.server.raft.follower import Follower
from kafkadouble.server.raft.later import Later
from kafkadouble.server.raft.leader import Leader
from kafkadouble.server.raft.resigned import Resigned
from kafkadouble.server.raft.unattached import Unattached

STATES = (Leader, Resigned, Follower, Unattached, prospective.Prospective, Candidate)


def laters(of: Mapping[str, Any]) -> list[Later]:
    return [each for each in of.values() if isinstance(each, Later)]


TABLES: list[Mapping[Any, Any]] = [handling.HANDLERS, answering.HANDLERS, polling.POLLS]
ALL = [each for table in (*TABLES, vars(leading), vars(replica)) for each in laters(table)]


@pytest.mark.parametrize("later", ALL, ids=repr)
def test_every_name_is_a_function(later: Later) -> None:
    with pytest.raises(TypeError, match="argument"):  # of the function, which was found
        later()


def test_there_is_a_row_for_every_state() -> None:
    assert {state.__name__ for state in STATES} == set(polling.POLLS)
