"""The options for reading a log, as a table, with the names of Spark's Kafka source where it has
them.

Names are compared without case and underscores, because Spark lower-cases them and Python users
write `starting_offsets`. A level may have its own options. An error is one sentence that names the
option and the value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kafkadouble.wire.errors import UsageError

from .log_filter import FAR, LogFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EARLIEST, LATEST = -2, -1
FAIL, SKIP, REPORT = "fail", "skip", "report"
UNCOMMITTED, COMMITTED = "read_uncommitted", "read_committed"

Offsets = int | Mapping[str, Mapping[int, int]]
"""One for all partitions, or topic to partition to offset; -2 and -1 are the earliest and the
latest."""


class LogOption(NamedTuple):
    """A name, the function that parses a value (ValueError with the reason), and the default."""

    name: str
    read: Callable[[object], Any]
    default: object


class LogOptions(NamedTuple):
    """The parsed options. `own` holds the options of the level, `narrowing` the filter of the
    query."""

    level: str
    topics: tuple[str, ...]
    partitions: tuple[range, ...]
    starting_offsets: Offsets
    ending_offsets: Offsets
    starting_timestamp: int | None
    ending_timestamp: int | None
    isolation: str
    include_headers: bool
    include_control: bool
    include_marked: bool
    verify_crc: bool
    split_bytes: int
    on_corrupt: str
    fail_on_data_loss: bool
    own: Mapping[str, Any]
    narrowing: LogFilter = LogFilter()


def flag(given: object) -> bool:
    """Reads true or false, in the spelling of Python or Spark."""
    word = str(given).strip().lower()
    if word not in ("true", "false"):
        raise ValueError("this is neither true nor false")
    return word == "true"


def choice(*words: str) -> Callable[[object], str]:
    """Reads one of these words."""

    def read(given: object) -> str:
        if given not in words:
            raise ValueError(f"choose from {', '.join(words)}")
        return str(given)

    return read


def number(least: int) -> Callable[[object], int]:
    """Reads an integer, not less than this."""

    def read(given: object) -> int:
        try:
            found = int(str(given))
        except ValueError:
            raise ValueError("this is no whole number") from None
        if not least <= found <= FAR:
            raise ValueError(f"the least is {least}" if found < least else "this is too large")
        return found

    return read


def words(given: object) -> tuple[str, ...]:
    """Reads names as one text with commas, or as a list."""
    each = given.split(",") if isinstance(given, str) else given
    if not isinstance(each, Iterable):
        raise ValueError("these are no names")
    return tuple(word for word in (str(one).strip() for one in each) if word)


def _ranges(given: object) -> tuple[range, ...]:
    return tuple(map(_range, words(str(given) if isinstance(given, int) else given)))


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    if not (first.isdecimal() and (last.isdecimal() or "-" not in text)):
        raise ValueError(f"{text!r} is no partition, and no range like 0-3")
    return range(int(first), int(last or first) + 1)


def _offsets(word: str, alone: int, refused: int) -> Callable[[object], Offsets]:
    """Reads offsets: the word for `alone`, a number, or a mapping as JSON; `refused` is not allowed
    at this end."""

    def one(given: object) -> int:
        found = number(EARLIEST)(given)
        if found == refused:
            raise ValueError(f"{refused} ({'latest' if refused == LATEST else 'earliest'}) is not for this end")
        return found

    def read(given: object) -> Offsets:
        if given == word:
            return alone
        found = _json(given) if isinstance(given, str) and given.lstrip().startswith("{") else given
        if not isinstance(found, Mapping):
            return one(found)
        if not all(isinstance(partitions, Mapping) for partitions in found.values()):
            raise ValueError('a mapping is like {"topic": {"0": 23}}')
        return {
            topic: {number(0)(index): one(offset) for index, offset in partitions.items()}
            for topic, partitions in found.items()
        }

    return read


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("this is no JSON") from None


SPLIT_BYTES = LogOption("splitBytes", number(1), 64 << 20)
OPTIONS = (
    LogOption("topics", words, ()),
    LogOption("partitions", _ranges, ()),
    LogOption("startingOffsets", _offsets("earliest", EARLIEST, LATEST), EARLIEST),
    LogOption("endingOffsets", _offsets("latest", LATEST, EARLIEST), LATEST),
    LogOption("startingTimestamp", number(0), None),
    LogOption("endingTimestamp", number(0), None),
    LogOption("isolation", choice(UNCOMMITTED, COMMITTED), UNCOMMITTED),
    LogOption("includeHeaders", flag, False),
    LogOption("includeControl", flag, False),
    LogOption("includeMarked", flag, False),
    LogOption("verifyCrc", flag, True),
    SPLIT_BYTES,
    LogOption("onCorrupt", choice(FAIL, SKIP, REPORT), FAIL),
    LogOption("failOnDataLoss", flag, True),
)
"""The options of every level, in the order of the fields of `LogOptions`."""


def plain(name: str) -> str:
    """A name in the form that is compared."""
    return name.replace("_", "").lower()


def parse(level: str, given: Mapping[str, object], own: Iterable[LogOption] = ()) -> LogOptions:
    """Raises UsageError for an unknown option, and for an invalid value. None counts as not
    given."""
    own = tuple(own)
    table = {plain(option.name): option for option in (*OPTIONS, *own)}
    values = {option.name: option.default for option in table.values()}
    for name, value in given.items():
        option = table.get(plain(name))
        if option is None:
            known = ", ".join(sorted((option.name for option in table.values()), key=str.lower))
            raise UsageError(f"there is no option {name!r} at level {level}: choose from {known}")
        if value is not None:
            values[option.name] = _value(option, value)
    common = (values[option.name] for option in OPTIONS)
    return LogOptions._make((level, *common, {option.name: values[option.name] for option in own}, LogFilter()))


def _value(option: LogOption, given: object) -> Any:
    try:
        return option.read(given)
    except ValueError as reason:
        raise UsageError(f"option {option.name} cannot be {given!r}: {reason}") from None


def offset_of(offsets: Offsets, topic: str, partition: int, default: int) -> int:
    """The offset that was given for this partition."""
    if isinstance(offsets, int):
        return offsets
    return offsets.get(topic, {}).get(partition, default)
