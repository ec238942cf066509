"""The row of one API: every fact about it that is not in its message spec or in its handler.

Each fact is given in each row of `rows`, so that it was decided; `NONE` is a decision. The
listeners are those of the message spec.

- `forwarded`: whether a broker hands the request on to the active controller (KIP-590), as the APIs
  that Apache Kafka 4.4 marks as forwardable.
- `parts`: paths to the lists of parts in a request and in its response, outermost first, as
  "kind:request field/response field". With several paths, the one whose list is not empty counts.
- `right`: the operation and the resource type that the request as a whole needs, as "ALTER
  cluster"; with several joined by " + ", it needs all of them, and of operations joined by "|" one.
- `part_right`: the same for each of the outermost parts. `right_or_parts`: a client with `right`
  needs no right to the parts; otherwise it needs both.
- `guard`: which code checks these rights for clients. ROW: `request_authorization`, by this row,
  before the handler. BOTH: this row, and then the handler for what a row cannot say, such as topics
  inside groups. RIGHT: `right` by this row, and `part_right` by the handler, which has one answer
  with both. HANDLER: only the handler, whose rules are others. NONE: no right is needed.
- `refused_parts`: where the parts without their right are in a response: FIRST, LAST, or IN_ORDER,
  among the others as in the request. `counts_parts_once`: a repeated part counts once.
- `secrets`: what a capture leaves out of the bodies.

Rights are those of Kafka's table "Operations and Resources on Protocols". A broker leaves the
rights of forwarded requests to the controller. `controller_right` is the right that a controller
checks, where it is another one; it then checks no right to the parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

from kafkadouble.messages import registry
from kafkadouble.messages.message import Message

NONE = "none"

ROW, BOTH, RIGHT, HANDLER = "row", "both", "right", "handler"
"""Which code checks the rights of an API."""

FIRST, LAST, IN_ORDER = "first", "last", "in order"
"""The fields of a response that hold refused parts."""

BODIES = "bodies"
"""Both bodies may hold credentials."""

CONFIG_VALUES = "config values"
"""The values of `configs` may be passwords."""


class Handler(Protocol):
    """The functions that a handler module has. A module may also have

    - `refuse(request, code, message)`, the response in which everything that was asked for failed
      with `code`, where that is more than an error for the whole response;
    - `precheck(node, request)`, which refuses or answers a request before the rights of its row
      are checked. `dispatch` calls it for every request that this node handles, of clients and
      nodes; `answer` relies on that.
    - `admit(request)`, a precheck that a broker also makes before it forwards the request;
    - `preprocess(node, request)`, which answers a part of a request before the rest is forwarded;
    - `invalid_parts(request)`, the parts that it refuses whatever the rights.
    """

    def answer(self, node: Any, request: Any) -> Any:
        """A response, None, or a generator that will return one of them."""
        ...


class PartList(NamedTuple):
    """One list of parts: what its items are, and the names of the list in request and response."""

    kind: str
    requested: str
    answered: str


class ApiRow:
    """The facts of one API, as the module says. `module` is the handler's, named for the API in
    snake case unless given; `controller_module` that of a controller's handler."""

    def __init__(
        self,
        name: str,
        *,
        forwarded: bool,
        parts: tuple[str, ...],
        right: str,
        part_right: str,
        guard: str,
        secrets: str,
        right_or_parts: bool = False,
        refused_parts: str = LAST,
        counts_parts_once: bool = False,
        controller_right: str | None = None,
        module: str | None = None,
        controller_module: str | None = None,
        advertised_from: int | None = None,
        reason: str = "",
        hidden: str = "",
    ) -> None:
        self.name, self.api = name, registry.api_named(name)
        self.forwarded, self.right, self.part_right, self.secrets = forwarded, right, part_right, secrets
        self.guard, self.refused_parts, self.counts_parts_once = guard, refused_parts, counts_parts_once
        self.right_or_parts, self.controller_right = right_or_parts, controller_right or right
        self.controller_part_right = NONE if controller_right else part_right
        self.module = module or self.api.request_entry.module
        self.controller_module = controller_module or self.module
        self.advertised_from, self.reason = advertised_from, reason
        self.hidden = hidden
        """Why ApiVersions leaves it out on a broker that receives no client metrics, or ""."""
        self._parts = parts

    @property
    def listeners(self) -> tuple[str, ...]:
        """The kinds of listener on which it is served: "broker", "controller"."""
        return self.api.listeners

    @cached_property
    def paths(self) -> tuple[tuple[PartList, ...], ...]:
        """The lists of parts, outermost first; one path for each form of the request."""
        return tuple(
            tuple(PartList(*part.replace("/", ":").split(":")) for part in path.split()) for path in self._parts
        )

    def __repr__(self) -> str:
        return f"the row of {self.name}"


class ServedApi:
    """One API on one kind of listener, with the range of versions that is served and advertised."""

    def __init__(self, row: ApiRow, listener: str) -> None:
        self.row, self.api, self.name, self.reason = row, row.api, row.name, row.reason or row.hidden
        self.lowest, self.highest = self.api.stable_versions
        self.advertised_from = self.lowest if row.advertised_from is None else row.advertised_from
        self._module = row.controller_module if listener == "controller" else row.module

    @cached_property
    def handler(self) -> Handler:
        """Its module, imported when the first request comes."""
        return cast(Handler, import_module("..handlers." + self._module, __package__))

    @cached_property
    def request(self) -> type[Message]:
        """The class of its requests."""
        return self.api.request

    @cached_property
    def refuse(self) -> Callable[[Any, int, str | None], Any]:
        """Makes the response in which everything that was asked for failed."""
        return getattr(self.handler, "refuse", self.refuse_as_a_whole)

    def refuse_as_a_whole(self, request: Any, code: int, message: str | None) -> Message:
        """The response with an error for all of it, and with the message if it has one."""
        response: Any = self.api.response(error_code=code)  # type: ignore[call-arg]  # of these APIs
        if message is not None and hasattr(response, "error_message"):
            response.error_message = message
        return cast(Message, response)

    @cached_property
    def admit(self) -> Callable[[Any], None] | None:
        """Refuses a request before it is forwarded; None for most APIs."""
        return getattr(self.handler, "admit", None)

    @cached_property
    def preprocess(self) -> Callable[[Any, Any], Any] | None:
        """Answers a part of a request before the rest is forwarded; None for most APIs."""
        return getattr(self.handler, "preprocess", None)

    @cached_property
    def precheck(self) -> Callable[[Any, Any], Any] | None:
        """Refuses or answers a request before the rights of its row are checked; None for most
        APIs."""
        admit = self.admit
        return getattr(self.handler, "precheck", None) if admit is None else lambda node, request: admit(request)

    @cached_property
    def invalid_parts(self) -> Callable[[Any], Callable[[Any], bool]] | None:
        """Finds the parts of a request that the handler refuses whatever the rights of the client;
        None for most APIs."""
        return getattr(self.handler, "invalid_parts", None)

    def serves(self, version: int) -> bool:
        return self.lowest <= version <= self.highest

    def __repr__(self) -> str:
        return f"{self.name} {self.lowest}-{self.highest}"
