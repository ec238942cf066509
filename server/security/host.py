"""The interface of the node that the authorizer uses."""

from __future__ import annotations

from typing import Protocol

from ..metadata.image import Image
from .authorizer import Authorizer


class AuthorizerHost(Protocol):
    """A node, as the authorizer sees it."""

    @property
    def image(self) -> Image: ...

    @property
    def authorizer(self) -> Authorizer | None:
        """None where no right is needed."""
        ...


class ActingHost(AuthorizerHost, Protocol):
    """A node, for which another one may act."""

    @property
    def id(self) -> int:
        """The id of the node."""
        ...
