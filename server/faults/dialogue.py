"""A dialogue: one rule with an action for each of the next requests, in their order.

Rules. Each matching request takes one step, None among them, which serves the request as usual. The
rule is spent after its last step. A list of errors (`fail`) or of answers (`respond`) is another
form of the same. A step neither holds a request nor calls a function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

AS_USUAL = "as usual"


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Apply one of the `steps` to each request, in their order. A step is an action, or None for a
    request that is served as usual."""

    steps: tuple[Any, ...]

    @property
    def last(self) -> int:
        """The number of steps up to the last action: what comes after it is served as usual."""
        return max((number for number, step in enumerate(self.steps, 1) if step is not None), default=0)


def is_list(value: Any) -> bool:
    """Whether a value is a list of steps. An empty one is refused as any wrong value."""
    return isinstance(value, list | tuple) and len(value) > 0
