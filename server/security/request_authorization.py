"""Authorizes requests by the rows of their APIs: a right of the whole request, or a right for each
of its parts (KIP-11, KIP-590).

A broker authorizes its own requests, and leaves forwarded ones to the controller, which checks the
client's principal in the Envelope. The broker that is itself the active controller checks them as a
controller does. Parts of a request without the right are refused; the handler processes the others,
and its answer has both. The handlers check the rights that a row cannot state (`client_rights`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cache
from types import GeneratorType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid

from ..apis.part_lists import DIRECT, key_of, path_of
from ..apis.row import BOTH, FIRST, HANDLER, IN_ORDER, NONE, RIGHT, ROW, ApiRow, PartList
from ..configs.alter import Resource
from ..requests.answer import DISCONNECT
from ..requests.request import Refusal, Request
from ..requests.slices import begun
from ..requests.waiting import Wait, sliced
from .acls import CLUSTER, CLUSTER_NAME, GROUP, OPERATIONS, RESOURCE_TYPES, TOPIC
from .client_rights import FAILED, ClientRights, client_rights

if TYPE_CHECKING:
    from ..requests.answer import Answer
    from .host import AuthorizerHost

PARTS_BY_ROW, RIGHT_BY_ROW = (ROW, BOTH), (ROW, BOTH, RIGHT)
"""The guards with which a row is checked here."""


def _unless_cluster(code: int) -> str | None:
    return None if code == error_codes.CLUSTER_AUTHORIZATION_FAILED else error_codes.meaning(code)


MESSAGES: dict[str, Callable[[int], str | None]] = {
    "CreateTopics": lambda code: "Authorization failed.",
    "AlterConfigs": _unless_cluster,
    "IncrementalAlterConfigs": _unless_cluster,
}
"""The messages of refused parts; others have none, or that of their handler."""

RESOURCE = "resource"
CLUSTER_RESOURCES = (Resource.BROKER, Resource.BROKER_LOGGER, Resource.CLIENT_METRICS)

Handle = Callable[["AuthorizerHost", Request[Any]], "Answer | Wait[Answer]"]


class RequiredRight(NamedTuple):
    """Operations, of which one is enough, on a resource of a type; the type None means that of a
    configuration resource."""

    operations: tuple[int, ...]
    resource_type: int | None

    def held(self, rights: ClientRights, resource_type: int, name: str) -> bool:
        return any(rights.may(operation, resource_type, name) for operation in self.operations)


LOGGERS_OF_CONTROLLER = RequiredRight((OPERATIONS.index("CLUSTER_ACTION"),), None)
"""As in Kafka: at a broker the right is that of other configurations of brokers."""


@cache
def required_rights(text: str) -> tuple[RequiredRight, ...]:
    """The rights in a column of a row."""
    return () if text == NONE else tuple(map(_required_right, text.split(" + ")))


def _required_right(text: str) -> RequiredRight:
    operations, _, resource = text.partition(" ")
    kind = None if resource == RESOURCE else RESOURCE_TYPES.index(resource.upper())
    return RequiredRight(tuple(map(OPERATIONS.index, operations.split("|"))), kind)


def authorized(node: AuthorizerHost, request: Request[Any], handle: Handle) -> Answer | Wait[Answer]:
    """The response for the parts that the client has a right to. Raises Refusal."""
    rights = client_rights(node, request)
    if rights is None:
        return handle(node, request)
    row = request.peer.apis[request.api_key].row
    is_at_controller = request.peer.is_at_controller or row.forwarded
    right, part_right = (
        (row.controller_right, row.controller_part_right) if is_at_controller else (row.right, row.part_right)
    )
    # A controller checks its own column also where a broker leaves it to the handler.
    guard = ROW if row.guard == HANDLER and is_at_controller and not row.forwarded else row.guard
    if guard not in RIGHT_BY_ROW:
        return handle(node, request)
    missing = _missing_right(rights, request, right)
    if missing is not None and not row.right_or_parts:
        raise _refusal(row, missing, is_at_controller=is_at_controller)
    (required,) = required_rights(part_right) or (None,)
    if required is None or guard not in PARTS_BY_ROW or (missing is None and row.right_or_parts):
        return handle(node, request)
    return PartsGuard(node, request, row, required, rights).answer(handle)


def may(node: AuthorizerHost, request: Request[Any], right: tuple[int, int, str]) -> bool:
    """Whether the client has a right, for handlers that need a right only in some cases."""
    rights = client_rights(node, request)
    return rights is None or rights.may(*right)


def _refusal(row: ApiRow, missing: RequiredRight, *, is_at_controller: bool) -> Refusal:
    """The refusal of the whole request, with a message where Kafka has one."""
    assert missing.resource_type is not None
    code = FAILED[missing.resource_type]
    if row.name == "DescribeQuorum":
        return Refusal(code, error_codes.meaning(code))
    if not is_at_controller and row.name != "DescribeAcls":
        return Refusal(code)
    return Refusal(code, f"The request needs {OPERATIONS[missing.operations[-1]]} permission on the cluster.")


def _missing_right(rights: ClientRights, request: Request[Any], text: str) -> RequiredRight | None:
    """The first right that the client lacks; None if it has all."""
    for required in required_rights(text):
        kind = required.resource_type
        assert kind is not None
        if not required.held(rights, kind, _name_in(request.body, kind)):
            return required
    return None


def _name_in(body: Any, kind: int) -> str:
    """The resource of this type that the whole request is about."""
    if kind == CLUSTER:
        return CLUSTER_NAME
    return next(getattr(body, field) for field in DIRECT[RESOURCE_TYPES[kind].lower()] if hasattr(body, field)) or ""


def _never(part: Any) -> bool:
    return False


class PartsGuard:
    """One request whose outermost parts need a right each."""

    def __init__(
        self, node: AuthorizerHost, request: Request[Any], row: ApiRow, required: RequiredRight, rights: ClientRights
    ) -> None:
        self._node, self._request, self._row, self._required, self._rights = node, request, row, required, rights
        path = path_of(row.name, request.body)
        self._level: PartList | None = path[0] if path else None
        invalid_parts = request.peer.apis[request.api_key].invalid_parts
        self._is_invalid: Callable[[Any], bool] = _never if invalid_parts is None else invalid_parts(request)

    @begun
    def answer(self, handle: Handle) -> Wait[Answer]:
        """The response of the handler for the allowed parts, with the refused ones. The parts are
        authorized in slices."""
        parts = [] if self._level is None else list(getattr(self._request.body, self._level.requested))
        if self._row.counts_parts_once:
            parts = list(dict.fromkeys(parts))
        failures = yield from sliced(self._failure, parts)
        if not any(failures):
            return (yield from _steps(handle(self._node, self._request)))
        allowed = [part for part, failure in zip(parts, failures, strict=True) if failure is None]
        denied = ((part, code) for part, code in zip(parts, failures, strict=True) if code is not None)
        refused = yield from sliced(lambda each: self._refuse(*each), denied)
        if any(each is DISCONNECT for each in refused):  # Produce without acks
            if allowed:
                yield from _steps(handle(self._node, self._with(allowed)))
            return DISCONNECT
        results = yield from sliced(lambda each: list(getattr(each, self._list)), refused)
        answer = yield from _steps(handle(self._node, self._with(allowed)))
        joined: Answer = self._joined(answer, failures, results)
        return joined

    @property
    def _list(self) -> str:
        assert self._level is not None
        return self._level.answered

    def _failure(self, part: Any) -> int | None:
        """The error code for a part without the right. A topic with an unknown id has no name, and
        the handler refuses it, as a part that is invalid whatever the rights."""
        assert self._level is not None
        if self._is_invalid(part):
            return None
        kind, name = self._resource(part, self._level)
        required = LOGGERS_OF_CONTROLLER if self._alters_own_loggers(part) else self._required
        if name is None or required.held(self._rights, kind, name):
            return None
        return FAILED[kind]

    def _alters_own_loggers(self, part: Any) -> bool:
        """Whether a part is about the loggers of this controller."""
        is_altered = self._row.name == "IncrementalAlterConfigs" and self._request.peer.is_at_controller
        return is_altered and part.resource_type == Resource.BROKER_LOGGER

    def _resource(self, part: Any, level: PartList) -> tuple[int, str | None]:
        if self._required.resource_type is None:
            if part.resource_type in CLUSTER_RESOURCES:
                return CLUSTER, CLUSTER_NAME
            kinds = {Resource.TOPIC: TOPIC, Resource.GROUP: GROUP}
            # The handler refuses a type that does not exist.
            return kinds.get(part.resource_type, CLUSTER), part.resource_name if part.resource_type in kinds else None
        key = key_of(part, level.kind, self._topic_name)
        if isinstance(key, Uuid) and key == Uuid.ZERO:
            return self._required.resource_type, ""
        return self._required.resource_type, key if isinstance(key, str) else None

    def _topic_name(self, topic_id: Any) -> str | None:
        topic = self._node.image.topic(topic_id)
        return None if topic is None else topic.name

    def _with(self, parts: list[Any]) -> Request[Any]:
        found = copy(self._request)
        found.body = copy(self._request.body)
        assert self._level is not None
        setattr(found.body, self._level.requested, parts)
        return found

    def _refuse(self, part: Any, code: int) -> Any:
        served = self._request.peer.apis[self._request.api_key]
        return served.refuse(self._with([part]), code, self._message(code))

    def _message(self, code: int) -> str | None:
        if self._row.name not in MESSAGES:
            return None
        # Only the broker's part of altering configurations has no message.
        message = MESSAGES[self._row.name](code)
        return error_codes.meaning(code) if message is None and self._request.peer.is_at_controller else message

    def _joined(self, answer: Any, failures: Sequence[int | None], refused: list[list[Any]]) -> Any:
        if not hasattr(answer, self._list):
            return answer
        made = list(getattr(answer, self._list) or ())
        if self._row.refused_parts == IN_ORDER and len(made) == failures.count(None):
            setattr(answer, self._list, _in_order(failures, made, refused))
        else:
            flat = [each for of_part in refused for each in of_part]
            setattr(answer, self._list, [*flat, *made] if self._row.refused_parts == FIRST else [*made, *flat])
        return answer


def _steps(answer: Answer | Wait[Answer]) -> Wait[Answer]:
    if isinstance(answer, GeneratorType):
        answer = yield from answer
    return cast("Answer", answer)


def _in_order(failures: Iterable[int | None], made: list[Any], refused: list[list[Any]]) -> list[Any]:
    """The results in the order of the request."""
    left, gone = iter(made), iter(refused)
    return [each for code in failures for each in ([next(left)] if code is None else next(gone))]
