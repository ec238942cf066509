"""The fault rules that are armed at one node, or at all nodes of a cluster. Applies them to
requests.

Rules. A spent rule is removed, so the next matching rule applies. A node without rules has no cost:
it does not import `carrying.py`, which applies rules. A rule that holds requests stays until it is
released.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..requests.origin import is_from_node
from ..requests.request import Request
from . import REQUEST
from .register import RuleRegister

if TYPE_CHECKING:
    from .armed import Armed
    from .host import FaultHost, Handle, Refuse
    from .rule import Rule


class Faults:
    """The rules of one node. `rules` are the armed rules for requests, oldest first. `register` has
    the rules for requests, connections, links and disks."""

    def __init__(self, node: FaultHost) -> None:
        self._node = node
        self.share(RuleRegister())

    def share(self, register: RuleRegister) -> None:
        """Uses the rules of this register, as other nodes of the cluster do."""
        self.register, self.rules = register, register.by_plane[REQUEST]

    def arm(self, rule: Rule) -> Armed:
        """Arms a rule. Raises UsageError if the rule could never apply."""
        from .armed import Armed
        from .reach import check_reach

        if rule.plane == REQUEST:
            check_reach(rule)
        armed = Armed(rule, self._node.random.getrandbits(32), self._node.now, self._node.image)
        armed.on_spent = self.retire
        self.register.add(armed)
        return armed

    def retire(self, armed: Armed) -> None:
        """Removes a rule, if it was not removed before."""
        self.register.remove(armed)

    def disarm(self, armed: Armed) -> None:
        """Removes a rule, and releases the requests that it holds."""
        self.retire(armed)
        armed.release()

    def clear(self) -> None:
        """Removes all rules."""
        for armed in list(self.register.rules):
            self.disarm(armed)

    def around(self, request: Request[Any], handle: Handle, refuse: Refuse) -> Any:
        """Returns the answer to a request after the rules were applied, or a generator that waits
        and then returns the answer."""
        if is_from_node(request) and not any(armed.rule.match.peers for armed in self.rules):
            return handle(self._node, request)
        from .carrying import FaultedRequest

        return FaultedRequest(self._node, list(self.rules), request, handle, refuse).begin()

    def __repr__(self) -> str:
        return repr(self.register)
