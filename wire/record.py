"""One record, as a producer sends it and a consumer receives it, in any batch format."""

Headers = tuple[tuple[str, bytes | None], ...]
"""Header names and values, in their order; a name may appear twice. Bytes of a name that are not
UTF-8 become lone surrogates (Python's `surrogateescape`), so that they can be written back: Kafka's
broker does not read header names."""

_SHOWN = 32


class Record:
    """A record at its absolute offset. `key` and `value` may be None, which is not the same as
    empty; `timestamp` is ms since the epoch, or -1 for none."""

    __slots__ = ("headers", "key", "offset", "timestamp", "value")

    def __init__(
        self, offset: int, timestamp: int, key: bytes | None, value: bytes | None, headers: Headers = ()
    ) -> None:
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return (
            self.offset == other.offset
            and self.timestamp == other.timestamp
            and self.key == other.key
            and self.value == other.value
            and self.headers == other.headers
        )

    __hash__ = None  # type: ignore[assignment]  # mutable, like a list

    def __repr__(self) -> str:
        headers = f", {len(self.headers)} headers" if self.headers else ""
        return f"Record({self.offset} at {self.timestamp}: {_shown(self.key)} -> {_shown(self.value)}{headers})"


def _shown(data: bytes | None) -> str:
    if data is None or len(data) <= _SHOWN:
        return repr(data)
    return f"{bytes(data[:_SHOWN])!r}... ({len(data)} bytes)"
