"""Tag sections of flexible versions (KIP-482): a count, then (tag, size, bytes) with rising tags.

Generated codecs read and write the tags that they know. This file reads the head of each tag, keeps
unknown tags to write them back (those of a request's header are only skipped), and merges known and
unknown tags in order.
"""

from __future__ import annotations

from .errors import BadTag, TooLarge, Truncated, UsageError
from .varint import more_uvarint, read_uvarint, write_uvarint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .primitives import Write

MOST = 0x7FFFFFFF
"""The highest tag."""


def read_tag(b: bytes, p: int, last: int) -> tuple[int, int, int]:
    """The head of a tagged field: its tag, where its bytes end, where they start. `last` is the tag
    before it, or -1."""
    tag, size = b[p], b[p + 1]
    if tag < 128 and size < 128:  # nearly always
        p += 2
    else:
        tag, p = read_uvarint(b, p)
        size, p = read_uvarint(b, p)
    if not last < tag <= MOST:
        raise BadTag(misplaced(tag, last))
    if p + size > len(b):
        raise Truncated("the bytes end inside a tagged field")
    return tag, p + size, p


def misplaced(tag: int, last: int) -> str:
    """The error of a tag that follows the tag `last`."""
    return f"tag {tag} comes behind tag {last}" if tag <= MOST else f"tag {tag} is above {MOST}"


def read_unknown(b: bytes, count: int, p: int) -> tuple[dict[int, bytes], int]:
    """A whole section of `count` tags (its first byte), none of which is known."""
    if count > 127:
        count, p = more_uvarint(b, count, p)
    found: dict[int, bytes] = {}
    tag = -1
    for _ in range(count):
        tag, end, p = read_tag(b, p, tag)
        found[tag] = b[p:end]
        p = end
    return found, p


def skip_tags(b: bytes, p: int, most: int) -> tuple[int, int]:
    """Skips a section: how many tags the section at `p` has, and where it ends. Raises TooLarge
    when the section announces more than `most`, before any is read."""
    count, p = read_uvarint(b, p)
    if count > most:
        raise TooLarge(f"{count} tagged fields where {most} are allowed", offset=p)
    tag = -1
    for _ in range(count):
        tag, p, _ = read_tag(b, p, tag)
    return count, p


def keep_unknown(struct: Any, tag: int, data: bytes) -> None:
    """Remembers a tag that this version does not know."""
    if struct.unknown_tagged_fields is None:
        struct.unknown_tagged_fields = {}
    struct.unknown_tagged_fields[tag] = data


def refuse_size() -> None:
    raise BadTag("a tagged field does not fill the size that it announces")


def write_tags(w: Write, known: dict[int, list[Any]], unknown: dict[int, bytes] | None, taken: Sequence[int]) -> None:
    """A section: `known` tags as lists of buffers and `unknown` ones as bytes; `taken` are the tags
    that this version knows."""
    fields: dict[int, Any] = dict(known)
    for tag, data in (unknown or {}).items():
        if tag in taken or not 0 <= tag <= MOST:
            raise UsageError(f"tag {tag} cannot be an unknown tag here")
        fields[tag] = [data]
    w(write_uvarint(len(fields)))
    for tag in sorted(fields):
        data = b"".join(fields[tag])
        w(write_uvarint(tag) + write_uvarint(len(data)))
        w(data)
