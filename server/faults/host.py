"""The interface of the node and of `dispatch` that fault rules use."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Protocol

from ..metadata.image import Image
from ..replica.fetching.fetch_sessions import FetchSessionCache
from ..requests.request import Request

Handle = Callable[[Any, Request[Any]], Any]
"""Processes a request at a node: an answer, or a generator that will return one."""

Refuse = Callable[[Request[Any], int, str | None], Any]
"""The answer in which everything that a request asks for failed."""


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
