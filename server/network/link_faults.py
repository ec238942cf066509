"""The links between nodes of one process under fault rules: holds messages, and says when they
arrive.

Rules. A link has two directions, and a message is a request or a response. A rule meets each
message of its direction. A message arrives when its last byte has passed; messages of one direction
arrive in order. When a link is reset, its messages are lost, and so are the requests that wait for
an answer. A refused request is not sent. This file knows no node and no clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from ..faults.armed import Armed
from ..faults.connection_actions import RefuseConnections, ResetAfter, SlowClose, close_delay_ms
from ..faults.match import Match
from ..faults.pacing import Effect, Pacing

AT_AN_EVENT = (RefuseConnections, SlowClose)
"""Actions that hold no message."""

MOST_HELD = 10_000
"""Messages that one direction of a link holds; more are lost, and their senders get no answer."""

Deliver = Callable[[], None]


class HeldMessage:
    """A message on its way. `owner` is the request that it belongs to."""

    __slots__ = ("deliver", "owner", "size")

    def __init__(self, size: int, owner: object, deliver: Deliver) -> None:
        self.size = size
        self.owner: object | None = owner
        self.deliver: Deliver | None = deliver

    def forget(self) -> None:
        """The sender does not wait any more: its bytes still pass, and nothing is delivered."""
        self.owner = self.deliver = None


class Lane:
    """The traffic from one node to another: messages, in order, with the bytes that have not
    passed."""

    def __init__(self) -> None:
        self.pacing = Pacing()
        self.messages: deque[HeldMessage] = deque()
        self._passed = 0  # of the first message

    def put(self, message: HeldMessage, effects: Sequence[Effect], now: int) -> None:
        self.messages.append(message)
        self.pacing.put(message.size, now, effects)

    def arrived(self, now: int) -> list[HeldMessage]:
        """The messages that have passed."""
        messages = []
        for size in self.pacing.take(now):
            self._passed += size
            if self._passed >= self.messages[0].size:
                self._passed = 0
                messages.append(self.messages.popleft())
        return messages


class LinkFaults:
    """The links that rules hold messages on. `rules` are those in force, oldest first."""

    def __init__(self, rules: Sequence[Armed]) -> None:
        self._rules = rules
        self._lanes: dict[tuple[int, int], Lane] = {}
        # A rule for both directions counts the bytes of both together.
        self._effects: dict[tuple[Armed, frozenset[int]], Effect] = {}

    def _of(self, sender: int, receiver: int) -> list[Armed]:
        return [armed for armed in self._rules if is_on_link(armed.rule.match, sender, receiver)]

    def is_refused(self, sender: int, receiver: int, now: int) -> bool:
        """Whether a rule refuses a request from one node to the other."""
        rules = [armed for armed in self._of(sender, receiver) if isinstance(armed.rule.action, RefuseConnections)]
        return any(armed.applies(now) for armed in rules)

    def delay_of_close(self, left: int, sender: int, now: int) -> int | None:
        """How much later a node learns that another has left (ms); None without such a rule."""
        rules = [armed for armed in self._of(left, sender) if isinstance(armed.rule.action, SlowClose)]
        actions = [rule.rule.action for rule in rules if rule.applies(now)]
        return close_delay_ms(actions) if actions else None

    def put(self, sender: int, receiver: int, message: HeldMessage, now: int) -> None:
        """A message is sent; its `deliver` is called when it arrives, by `carry`."""
        lane = self._lanes.setdefault((sender, receiver), Lane())
        if len(lane.messages) >= MOST_HELD:
            return
        effects = [
            self._effects.setdefault((armed, frozenset((sender, receiver))), Effect(armed))
            for armed in self._of(sender, receiver)
            if not isinstance(armed.rule.action, AT_AN_EVENT)
            and (isinstance(armed.rule.action, ResetAfter) or armed.applies(now))
        ]
        lane.put(message, effects, now)

    def forget(self, owner: object) -> None:
        """The sender of a request has given it up."""
        for lane in self._lanes.values():
            for message in lane.messages:
                if message.owner is owner:
                    message.forget()

    def forget_released(self) -> None:
        """Drops what is known of rules that were released."""
        self._effects = {key: effect for key, effect in self._effects.items() if not effect.armed.is_released}

    def carry(self, now: int) -> list[tuple[int, int]]:
        """Delivers what arrives now. Returns the links that are reset, whose messages are lost."""
        reset = []
        for (sender, receiver), lane in list(self._lanes.items()):
            for message in lane.arrived(now):
                if message.deliver is not None:
                    message.deliver()
            tripped, lane.pacing.tripped = lane.pacing.tripped, None
            if tripped is not None:
                self._effects.pop((tripped.armed, frozenset((sender, receiver))), None)
                if tripped.armed.applies(now):
                    reset.append((sender, receiver))
        for sender, receiver in reset:
            self._lanes.pop((sender, receiver), None)
            self._lanes.pop((receiver, sender), None)
        return reset

    def next_deadline(self, now: int) -> int | None:
        """When something arrives, unless more is sent or released (ms)."""
        found = [lane.pacing.next_deadline(now) for lane in self._lanes.values()]
        return min((each for each in found if each is not None), default=None)

    @property
    def has_rules(self) -> bool:
        """Whether a rule is in force. Without one, each call of `carry` delivers something."""
        return bool(self._rules)

    @property
    def is_over(self) -> bool:
        """Whether no rule is left, and everything has arrived."""
        return not (self._rules or any(lane.messages for lane in self._lanes.values()))

    def __repr__(self) -> str:
        return f"{sum(len(lane.messages) for lane in self._lanes.values())} messages held between nodes"


def is_on_link(match: Match, sender: int, receiver: int) -> bool:
    """Whether a rule is about what one node sends to the other."""
    if match.link is None:
        return False
    one, other = match.link
    ways = [(sender, receiver), (receiver, sender)] if match.both_ways else [(sender, receiver)]
    return any(one in (None, a) and other in (None, b) for a, b in ways)
