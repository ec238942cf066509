"""The armed rules, which the nodes of a cluster share, and which of the rules matched nothing.

It imports nothing that a node without rules would not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import CONNECTION, DISK, LINK, REQUEST

if TYPE_CHECKING:
    from .armed import Armed
    from .rule import Rule

MOST_REMEMBERED = 1000
"""The rules without a match that are remembered, and the latest rules that are found by their id;
beyond that the oldest are forgotten."""


class RuleRegister:
    """The rules in force, by plane, oldest first. A spent rule is removed from it, unless it still
    holds something."""

    def __init__(self) -> None:
        self.by_plane: dict[str, list[Armed]] = {REQUEST: [], CONNECTION: [], LINK: [], DISK: []}
        self.rules: list[Armed] = []
        """The rules of all planes."""
        self._unmatched: dict[Armed, None] = {}
        self._latest: dict[int, Armed] = {}
        self._last_id = 0

    def add(self, armed: Armed) -> None:
        """Puts a rule in force, and gives it an id: 1, 2 and so on."""
        self._last_id = armed.id = self._last_id + 1
        self._latest[armed.id] = armed
        self._latest.pop(armed.id - MOST_REMEMBERED, None)
        self.rules.append(armed)
        self.by_plane[armed.rule.plane].append(armed)
        if len(self._unmatched) >= MOST_REMEMBERED:
            kept = [each for each in self._unmatched if not each.met]
            self._unmatched = dict.fromkeys(kept[1 - MOST_REMEMBERED :])
        self._unmatched[armed] = None

    def remove(self, armed: Armed) -> None:
        """Removes a rule. It is no error if it was removed."""
        for rules in (self.rules, *self.by_plane.values()):
            if armed in rules:
                rules.remove(armed)

    def by_id(self, id: int) -> Armed | None:
        """The rule with this id, in force or not. The latest 1000 are remembered."""
        return self._latest.get(id)

    @property
    def unused(self) -> list[Rule]:
        """The rules that nothing has matched so far, armed or already removed, oldest first."""
        return [armed.rule for armed in self.unmatched]

    @property
    def unmatched(self) -> list[Armed]:
        """These rules with their counts."""
        return [armed for armed in self._unmatched if not armed.met]

    @property
    def unfinished(self) -> list[Armed]:
        """The dialogues, among the latest rules, that began and are not at their end."""
        return [armed for armed in self._latest.values() if armed.is_unfinished]

    def forget(self) -> None:
        """Begins again: no rule was armed so far."""
        self._unmatched.clear()
        self._latest.clear()
        self._last_id = 0

    def __repr__(self) -> str:
        return f"{len(self.rules)} rules in force"
