"""One request as one line of text: the time of day (UTC), the header, the broker, what the request
is about, the outcome and the errors.

    10:15:02.120 Produce v9 #4 of 'shop' at broker 1, o-0, 1 record in 74 bytes, answered in 2 ms

Long lists and long names are cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kafkadouble.wire.client_log import printable

from .payload import Payload

if TYPE_CHECKING:
    from .seen_parts import SeenPart
    from .seen_request import SeenRequest

ANONYMOUS = "User:ANONYMOUS"
MOST_PARTS, LONGEST_NAME = 3, 60


def line_of(seen: SeenRequest) -> str:
    """The line of one request."""
    head = f"{clock(seen.time)} {seen.api} v{seen.version} #{seen.correlation_id} of {_quoted(seen.client_id)}"
    by = "" if seen.principal == ANONYMOUS else f" ({text_of(seen.principal)})"
    at = f" at broker {seen.broker}" if seen.broker >= 0 else ""
    parts = seen.parts
    about = "".join(f", {each}" for each in (*_about(parts), *_records(seen)))
    took = f" in {seen.took} ms" if seen.took is not None else ""
    throttled = f", throttled for {throttle} ms" if (throttle := throttle_ms(seen)) else ""
    rules = f" (rule: {', '.join(seen.rules)})" if seen.rules else ""
    return f"{head}{by}{at}{about}, {seen.outcome}{took}{throttled}{rules}{_errors(seen, parts)}"


def throttle_ms(seen: SeenRequest) -> int:
    """For how long the client was throttled by its answer; 0 if that is not kept."""
    return getattr(seen.answer, "throttle_time_ms", 0)


def clock(ms: int) -> str:
    """The time of day in UTC, with milliseconds."""
    seconds, ms = divmod(ms, 1000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours % 24:02}:{minute:02}:{second:02}.{ms:03}"


def text_of(name: object) -> str:
    """A name as it is shown: cut if it is long, and with escapes if it cannot be printed."""
    text = str(name)
    return printable(text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 3] + "...")


def listed(texts: Iterable[str]) -> str:
    """The first of these texts, and how many more there are."""
    fromkeys = list(dict.fromkeys(texts))
    more = len(fromkeys) - MOST_PARTS
    return ", ".join(fromkeys[:MOST_PARTS]) + (f" and {more} more" if more > 0 else "")


def _quoted(name: str) -> str:
    return f"'{text_of(name)}'"


def _about(parts: Iterable[SeenPart]) -> Iterator[str]:
    parts = list(parts)
    if groups := [text_of(part.group) for part in parts if part.group is not None]:
        yield f"group {listed(groups)}"
    if ids := [text_of(part.transactional_id) for part in parts if part.transactional_id is not None]:
        yield f"transactional id {listed(ids)}"
    if topics := [where(part) for part in parts if part.topic is not None or part.partition is not None]:
        yield listed(topics)


def where(part: SeenPart) -> str:
    """A topic, or a partition as TOPIC-INDEX."""
    topic = text_of(part.topic or "")
    return topic if part.partition is None else f"{topic}-{part.partition}"


def payloads_of(seen: SeenRequest) -> list[Payload]:
    """The facts that are kept about the records in a Produce request, or in the answer to a
    Fetch."""
    if seen.api == "Produce":
        found: list[Any] = [data.records for topic in seen.body.topic_data for data in topic.partition_data]
    elif seen.api == "Fetch" and seen.answer is not None:
        found = [data.records for topic in seen.answer.responses for data in topic.partitions]
    else:
        return []
    return [each for each in found if isinstance(each, Payload)]


def sizes_of(seen: SeenRequest) -> Iterator[tuple[str, int]]:
    """The topics in a Produce request, or in the answer to a Fetch, each with the bytes of its
    records."""
    topics = seen.body.topic_data if seen.api == "Produce" else () if seen.answer is None else seen.answer.responses
    for topic in topics:
        name = seen.name_of(topic)
        for data in topic.partition_data if seen.api == "Produce" else topic.partitions:
            if name is not None and isinstance(data.records, Payload):
                yield name, len(data.records)


def _records(seen: SeenRequest) -> Iterator[str]:
    payloads = payloads_of(seen)
    if payloads:
        counts = [payload.records for payload in payloads]
        count = None if None in counts else sum(count or 0 for count in counts)
        noun = "record" if count == 1 else "records"
        yield f"{'some' if count is None else count} {noun} in {sum(map(len, payloads))} bytes"
    elif seen.api == "Fetch" and seen.answer is not None:
        yield "no records"


def _errors(seen: SeenRequest, parts: Iterable[SeenPart]) -> str:
    texts = []
    for name in seen.errors:
        among = listed(_name(part) for part in parts if part.error == name)
        texts.append(f"{name} ({among})" if among else name)
    return f": {', '.join(texts)}" if texts else ""


def _name(part: SeenPart) -> str:
    if part.topic is not None or part.partition is not None:
        return where(part)
    return text_of(part.group if part.group is not None else part.transactional_id)
