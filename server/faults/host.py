"""What the rules of the fault plane need of a node, and nothing more."""

from __future__ import annotations

from random import Random
from typing import Protocol

from ..metadata.image import Image
from ..replica.fetching.fetch_sessions import FetchSessionCache


class FaultHost(Protocol):
    """A node, as the fault plane sees it. Times are in ms."""

    @property
    def id(self) -> int: ...

    @property
    def now(self) -> int: ...

    @property
    def random(self) -> Random: ...

    @property
    def image(self) -> Image: ...

    @property
    def fetch_sessions(self) -> FetchSessionCache: ...
