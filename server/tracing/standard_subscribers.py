"""The subscribers that every node has, unless its owner looks at no requests."""

from __future__ import annotations

from .history import History
from .member_fetches import MemberFetches
from .trace import Trace


def subscribed(trace: Trace, *, history: bool) -> tuple[History | None, MemberFetches | None]:
    """The history of this trace, and what members of groups fetched; without `history` neither."""
    if not history:
        return None, None
    made = History(), MemberFetches()
    trace.subscribe_all(*made)
    return made
