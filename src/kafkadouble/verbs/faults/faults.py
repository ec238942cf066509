"""The methods of KafkaDouble that arm a fault rule for requests.

Each of them takes the fields of its action, and as keywords those of the rule's Match and Trigger:
`topic`, `client_id`, `times`, `on_call` and others. A rule is checked when it is made. When it is
armed, one that could never apply is refused. Both are a UsageError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.common.marking import verb
from kafkadouble.messages.message import Message

from .arming import arm_of

if TYPE_CHECKING:
    from typing import Unpack

    from kafkadouble.host.host import Host
    from kafkadouble.rules.rule_handle import RuleHandle
    from kafkadouble.server.faults.actions import Action
    from kafkadouble.server.faults.narrowing import Narrowing
    from kafkadouble.server.tracing.history import SeenRequest

    Body = Mapping[str, Any] | Message | bytes


@verb
def fail(
    host: Host,
    api: str,
    error: str | int | Sequence[str | int | Action | None],
    *,
    message: str | None = None,
    when: str = "before",
    **more: Unpack[Narrowing],
) -> RuleHandle:
    """Answers the next request to an API with an error. A list of errors is a dialogue: the
    first element is for the next request, the second for the one behind it, and so on; None
    is for a request that is served as usual.

    `error` is Kafka's name or number of the error. `when` is "before" the request is processed,
    or "after". If the rule is narrowed to a topic or a partition, only that part of a request
    fails.
    """
    return arm_of(host, "fail", api=api, error=error, message=message, when=when, **more)


@verb
def delay(host: Host, api: str, seconds: float, *, when: str = "before", **more: Unpack[Narrowing]) -> RuleHandle:
    """Delays the next request to an API by a number of seconds of the broker's clock."""
    return arm_of(host, "delay", api=api, seconds=seconds, when=when, **more)


@verb
def pause(host: Host, api: str, *, when: str = "before", **more: Unpack[Narrowing]) -> RuleHandle:
    """Holds the next request to an API until the `release` of the handle."""
    return arm_of(host, "pause", api=api, when=when, **more)


@verb
def disconnect(host: Host, api: str, *, after: bool = False, **more: Unpack[Narrowing]) -> RuleHandle:
    """Closes the connection of the next request to an API, before or after the request is
    processed."""
    return arm_of(host, "disconnect", api=api, when="after" if after else "before", **more)


@verb
def ignore(host: Host, api: str, **more: Unpack[Narrowing]) -> RuleHandle:
    """Neither processes nor answers the next request to an API. The connection stays open, and
    nothing else on it is answered."""
    return arm_of(host, "ignore", api=api, **more)


@verb
def drop_answer(host: Host, api: str, **more: Unpack[Narrowing]) -> RuleHandle:
    """Processes the next request to an API, and does not answer it. The connection stays open,
    and nothing else on it is answered."""
    return arm_of(host, "drop_answer", api=api, **more)


@verb
def throttle(host: Host, api: str, seconds: float, **more: Unpack[Narrowing]) -> RuleHandle:
    """Answers the next request to an API with this throttle time, and processes nothing on the
    connection for so long (KIP-219)."""
    return arm_of(host, "throttle", api=api, seconds=seconds, **more)


@verb
def respond(
    host: Host, api: str, body: Body | Sequence[Body | str | int | Action | None], **more: Unpack[Narrowing]
) -> RuleHandle:
    """Answers the next request to an API with this response, and does not process the request.
    `body` is a response, or a mapping as in Kafka's JSON; fields that it lacks have their
    default. Bytes are sent as they are, behind the header of the response. A list is a
    dialogue: the first element is for the next request, the second for the one behind it, and
    so on. There the name or the number of an error is that error, and None is for a request
    that is served as usual."""
    given = [*map(_plain, body)] if isinstance(body, list | tuple) else _plain(body)
    return arm_of(host, "respond", api=api, body=given, **more)


@verb
def change_field(host: Host, api: str, path: str, value: object, **more: Unpack[Narrowing]) -> RuleHandle:
    """Sets a field in the next answer of an API. `path` has the names of Kafka's JSON, as
    `topics[0].partitions[*].leaderId`."""
    return arm_of(host, "change_field", api=api, path=path, value=value, **more)


@verb
def corrupt_records(host: Host, *, how: str = "crc", **more: Unpack[Narrowing]) -> RuleHandle:
    """Damages the first batch of each partition in the next answer to a Fetch: its CRC ("crc"),
    or one bit of its records ("bit")."""
    return arm_of(host, "corrupt_records", api="Fetch", how=how, **more)


@verb
def stale_metadata(host: Host, api: str = "Metadata", **more: Unpack[Narrowing]) -> RuleHandle:
    """Answers the next request from the cluster's metadata of now."""
    return arm_of(host, "stale_metadata", api=api, **more)


@verb
def wrong_correlation_id(host: Host, api: str, **more: Unpack[Narrowing]) -> RuleHandle:
    """Answers the next request to an API with a correlation id that is too large by 1."""
    return arm_of(host, "wrong_correlation_id", api=api, **more)


@verb
def cut_frame(host: Host, api: str, bytes: int, **more: Unpack[Narrowing]) -> RuleHandle:
    """Sends the first bytes of the next answer of an API, and closes the connection."""
    return arm_of(host, "cut_frame", api=api, bytes=bytes, **more)


@verb
def short_frame(host: Host, api: str, bytes: int, **more: Unpack[Narrowing]) -> RuleHandle:
    """Answers the next request to an API with a frame of the first bytes of the answer."""
    return arm_of(host, "short_frame", api=api, bytes=bytes, **more)


@verb
def oversized_frame(host: Host, api: str, bytes: int, **more: Unpack[Narrowing]) -> RuleHandle:
    """Answers the next request to an API with a frame that claims a size that it does not
    have."""
    return arm_of(host, "oversized_frame", api=api, bytes=bytes, **more)


@verb
def slow_frame(host: Host, api: str, bytes_per_second: int, **more: Unpack[Narrowing]) -> RuleHandle:
    """Sends the next answer of an API slowly."""
    return arm_of(host, "slow_frame", api=api, bytes_per_second=bytes_per_second, **more)


@verb
def on(host: Host, api: str, function: Callable[[SeenRequest], Any], **more: Unpack[Narrowing]) -> RuleHandle:
    """Calls a function with the next request to an API, on the thread of the broker. The
    function returns None to go on, an action such as `Delay(0.1)`, a response, or the bytes of
    one."""
    return arm_of(host, "call", api=api, function=function, **more)


def _plain(body: Any) -> Any:
    """A response as Kafka's JSON; anything else as it is."""
    return body.to_json(body.versions[1]) if isinstance(body, Message) else body
