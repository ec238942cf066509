"""The intended differences between our codecs and Kafka's: one table, and the search for the row
that a difference belongs to."""

from __future__ import annotations

import re
from typing import NamedTuple

from kafkadouble.messages.fields import FieldInfo, fields_of
from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import BadTag, BadText, BadVarint, Truncated, WireError

from .java import THROWN


class Difference(NamedTuple):
    """An example of a difference: the bytes of a message, Kafka's reading of them, our behaviour,
    and the reason for it."""

    message: str
    version: int
    bytes: str
    kafka: tuple[str, str]
    """Kafka's answer to `rewrite`: the bytes that it writes or its exception, and the number of
    bytes that it left unread."""
    ours: str
    """The bytes that we write, or the error."""
    why: str


DIFFERENCES = {
    "text that is not UTF-8": Difference(
        "FindCoordinatorRequest",
        0,
        "0001 ff",
        ("0003efbfbd", "0"),
        "BadText: not UTF-8: invalid start byte at byte 2 in FindCoordinatorRequest.key",
        "Kafka puts U+FFFD in its place, and uses another name than the client sent; a test should notice this",
    ),
    "a tag twice or out of order": Difference(
        "ConsumerGroupMetadataValue",
        0,
        "00000001 02 00 08 0000000000000001 00 08 0000000000000002",
        ("00000001" + "01" + "0008" + "0000000000000002", "0"),
        "BadTag: tag 0 comes behind tag 0 at byte 15 in ConsumerGroupMetadataValue",
        "KIP-482 requires ascending tags; Kafka uses the last one",
    ),
    "a known tag of another size than it says": Difference(
        "ConsumerGroupMetadataValue",
        0,
        "00000001 01 00 00 0000000000000002",
        ("00000001" + "01" + "0008" + "0000000000000002", "0"),
        "BadTag: tag 0 announces 0 bytes and has 8 at byte 7 in ConsumerGroupMetadataValue.metadata_hash",
        "Kafka ignores the size of a tag that it has; a reader that uses the size would read another value",
    ),
    "a varint of more than 32 bits": Difference(
        "ApiVersionsRequest",
        3,
        "8280808010 61 01 00",
        ("0261" + "01" + "00", "0"),
        "BadVarint: an unsigned varint has more than 32 bits at byte 0 in ApiVersionsRequest.client_software_name",
        "Kafka drops the bits that do not fit, and uses the rest as the number",
    ),
    "a tag that only another version knows": Difference(
        "FetchRequest",
        12,
        "ffffffff 00000000 00000000 00000000 00 00000000 ffffffff 01 01 01 01 01 00",
        (f"{THROWN}java.lang.RuntimeException: Tag 1 is not valid for version 12", "0"),
        "ffffffff0000000000000000000000000000000000ffffffff010101010100",
        "Kafka refuses the message; kafkadouble treats it as an unknown tag, and keeps it (KIP-482)",
    ),
    "the highest tag": Difference(
        "UnregisterControllerRequest",
        0,
        "00000000 01 ffffffff07 00",
        (f"{THROWN}java.lang.RuntimeException: Attempted to use tag 2147483647 as an undefined tag.", "0"),
        "0000000001ffffffff0700",
        "Kafka reads it and cannot write it; we can",
    ),
}


def explained(cls: type[Message], version: int, ours: str | WireError, theirs: str) -> str:
    """The row of the table that a difference belongs to; empty if there is none."""
    if isinstance(ours, WireError):
        return _stricter(cls, version, ours)
    if re.match(THROWN + r"java\.lang\.RuntimeException: Tag \d+ is not valid for version \d+$", theirs):
        return "a tag that only another version knows"
    return "the highest tag" if "tag 2147483647 as an undefined tag" in theirs else ""


def _stricter(cls: type[Message], version: int, error: WireError) -> str:
    if isinstance(error, BadText):
        return "text that is not UTF-8"
    if isinstance(error, BadVarint):
        return "a varint of more than 32 bits"
    if isinstance(error, BadTag):
        twice = "comes behind" in str(error)
        return "a tag twice or out of order" if twice else "a known tag of another size than it says"
    # The size of a known tag that reaches beyond the end of the message.
    field = _field_at(cls, error.path)
    if isinstance(error, Truncated) and field is not None and field.is_tagged(version):
        return "a known tag of another size than it says"
    return ""


def _field_at(cls: type[Message], path: str) -> FieldInfo | None:
    """The field that an error's path ends with: `Message.array[3].field`."""
    at, found = cls, None
    for name in re.sub(r"\[\d+\]", "", path).split(".")[1:]:
        found = next((field for field in fields_of(at) if field.name == name), None)
        if found is None:
            return None
        at = found.struct or at  # type: ignore[assignment]  # a struct of the message
    return found
