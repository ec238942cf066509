"""The actions of fault rules on matching requests: a tagged union, one class for each action.

An action is a value. It says what happens; for requests `carrying.py` and `alterations.py` do it.
The actions on connections, links and disks are in modules of their own. In JSON an action is an
object whose `type` is the name of the action.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from kafkadouble.messages import error_codes

from . import CONNECTION, DISK, LINK, REQUEST
from .connection_actions import Bandwidth, HalfOpen, Latency, RefuseConnections, ResetAfter, SliceFrames, SlowClose
from .dialogue import Dialogue, is_list
from .disk_actions import APPEND, FLUSH, READ, DiskError, DiskFull, DiskSlow, LoseFlushes
from .field_kinds import ANYTHING, BEFORE, FUNCTION, SECONDS, WHEN, FieldKind, count, one_of, text


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer with an error, and `message` if the response has a field for one. Only the parts that
    match fail. `when`: before the request is processed, or after it."""

    error: str
    message: str | None = None
    when: str = BEFORE

    @property
    def code(self) -> int:
        code: int = getattr(error_codes, self.error)
        return code


@dataclass(frozen=True, slots=True)
class Delay:
    """Let `seconds` of the broker's clock pass, before the request is processed or after it."""

    seconds: float
    when: str = BEFORE


@dataclass(frozen=True, slots=True)
class Pause:
    """Hold the request, before it is processed or after it, until the rule is released or
    removed."""

    when: str = BEFORE


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Close the connection without an answer, before the request is processed or after it."""

    when: str = BEFORE


@dataclass(frozen=True, slots=True)
class Ignore:
    """Neither process nor answer the request. The connection stays open, and as answers come in
    the order of the requests, later requests on it have no answer either."""


@dataclass(frozen=True, slots=True)
class DropAnswer:
    """Process the request, and do not answer it. The connection goes on as for Ignore."""


@dataclass(frozen=True, slots=True)
class Throttle:
    """Answer with `seconds` as `throttle_time_ms`, and process nothing on the connection for so
    long (KIP-219)."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Respond:
    """Answer with `body`, and do not process the request. `body` is the response as in Kafka's
    JSON, with camelCase names; fields that it lacks have their default. Bytes are sent as they are,
    behind the header of the response."""

    body: Mapping[str, Any] | bytes


@dataclass(frozen=True, slots=True)
class ChangeField:
    """Process the request, and set a field of the answer. `path` is as `topics[0].partitions[*].
    leaderEpoch`: names as in Kafka's JSON, an index or `*` for each list."""

    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class CorruptRecords:
    """Damage the first batch of each partition in a Fetch response: its CRC (`crc`), or one bit of
    its records (`bit`)."""

    how: str = "crc"


@dataclass(frozen=True, slots=True)
class StaleMetadata:
    """Answer from the metadata of the cluster at the time when the rule was armed."""


@dataclass(frozen=True, slots=True)
class WrongCorrelationId:
    """Answer with a correlation id that is too large by 1."""


@dataclass(frozen=True, slots=True)
class CutFrame:
    """Send the first `bytes` of the answer, and close the connection."""

    bytes: int


@dataclass(frozen=True, slots=True)
class ShortFrame:
    """Send a frame that holds only the first `bytes` of the answer, and says so in its size."""

    bytes: int


@dataclass(frozen=True, slots=True)
class OversizedFrame:
    """Send the answer, with `bytes` as the size of its frame."""

    bytes: int


@dataclass(frozen=True, slots=True)
class SlowFrame:
    """Send the answer with this many bytes per second."""

    bytes_per_second: int


@dataclass(frozen=True, slots=True)
class Call:
    """Call a function on the broker's thread. Its return value decides: None to go on, a response,
    or another action. It cannot be written as JSON."""

    function: Callable[[Any], Any]


class ActionType(NamedTuple):
    """A row: the class, the kinds of its fields, its planes, and the fields of Match that it does
    not know on a connection. `is_one_off`: it holds nothing once it was applied, so that the rule
    ends when it is spent."""

    cls: type[Any]
    kinds: Mapping[str, FieldKind]
    planes: tuple[str, ...] = (REQUEST,)
    without: tuple[str, ...] = ()
    is_one_off: bool = True


OBJECT = {"type": "object"}
STEPS = {"type": "array", "items": {"type": ["object", "null"]}, "minItems": 1}
BYTES = count(0, "a number of bytes from 0").required
SOME_BYTES = count(1, "a number of bytes from 1").required
LINES = (CONNECTION, LINK)

ACTIONS: dict[str, ActionType] = {
    "fail": ActionType(Fail, {"error": text("the name of an error").required, "message": text("a text"), "when": WHEN}),
    "delay": ActionType(Delay, {"seconds": SECONDS.required, "when": WHEN}),
    "pause": ActionType(Pause, {"when": WHEN}, is_one_off=False),
    "disconnect": ActionType(Disconnect, {"when": WHEN}),
    "ignore": ActionType(Ignore, {}),
    "drop_answer": ActionType(DropAnswer, {}),
    "throttle": ActionType(Throttle, {"seconds": SECONDS.required}),
    "respond": ActionType(
        Respond,
        {"body": FieldKind(lambda value: isinstance(value, Mapping | bytes), "an object or bytes", OBJECT).required},
    ),
    "dialogue": ActionType(Dialogue, {"steps": FieldKind(is_list, "a list of actions", STEPS).required}),
    "change_field": ActionType(ChangeField, {"path": text("the path of a field").required, "value": ANYTHING}),
    "corrupt_records": ActionType(CorruptRecords, {"how": one_of("crc", "bit")}),
    "stale_metadata": ActionType(StaleMetadata, {}),
    "wrong_correlation_id": ActionType(WrongCorrelationId, {}),
    "cut_frame": ActionType(CutFrame, {"bytes": BYTES}),
    "short_frame": ActionType(ShortFrame, {"bytes": BYTES}),
    "oversized_frame": ActionType(OversizedFrame, {"bytes": BYTES}),
    "slow_frame": ActionType(SlowFrame, {"bytes_per_second": SOME_BYTES}),
    "call": ActionType(Call, {"function": FUNCTION.required}),
    # A connection that is refused has sent no request that could name a client.
    "refuse_connections": ActionType(RefuseConnections, {}, LINES, ("client_id", "principal")),
    "latency": ActionType(Latency, {"seconds": SECONDS.required, "jitter": SECONDS.required}, LINES, is_one_off=False),
    "bandwidth": ActionType(Bandwidth, {"bytes_per_second": SOME_BYTES}, LINES, is_one_off=False),
    "slice_frames": ActionType(SliceFrames, {"bytes": SOME_BYTES, "gap": SECONDS.required}, LINES, is_one_off=False),
    "reset_after": ActionType(ResetAfter, {"bytes": SOME_BYTES}, LINES),
    "half_open": ActionType(HalfOpen, {}, LINES, is_one_off=False),
    "slow_close": ActionType(SlowClose, {"seconds": SECONDS.required}, LINES),
    "disk_full": ActionType(DiskFull, {}, (DISK,)),
    "disk_error": ActionType(DiskError, {"on": one_of(APPEND, READ, FLUSH)}, (DISK,)),
    "disk_slow": ActionType(DiskSlow, {"seconds": SECONDS.required}, (DISK,)),
    "lose_flushes": ActionType(LoseFlushes, {}, (DISK,)),
}
"""Every action, by its type."""

TYPES: dict[type[Any], str] = {row.cls: name for name, row in ACTIONS.items()}

Action = (
    Fail
    | Delay
    | Pause
    | Disconnect
    | Ignore
    | DropAnswer
    | Throttle
    | Respond
    | Dialogue
    | ChangeField
    | CorruptRecords
    | StaleMetadata
    | WrongCorrelationId
    | CutFrame
    | ShortFrame
    | OversizedFrame
    | SlowFrame
    | Call
    | RefuseConnections
    | Latency
    | Bandwidth
    | SliceFrames
    | ResetAfter
    | HalfOpen
    | SlowClose
    | DiskFull
    | DiskError
    | DiskSlow
    | LoseFlushes
)
