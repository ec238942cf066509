"""The exceptions for wrong bytes and for wrong calls.

`WireError` and its kinds say that the peer's bytes are wrong, where (byte offset) and in which
field (path). `UsageError` says that the caller of our API is wrong. Kafka's error codes are data,
in `messages.error_codes`; no exception here carries one.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` takes time to import
    from typing import Any

    from .wording import Caller


class UsageError(ValueError):
    """The caller of this library made a mistake: an unknown setting, a value that a version cannot
    carry.

    With `words`, the text is a template: `{name}` is replaced by the word of this name. A word may
    have another form for callers in other languages, see `wording.py`; an error may be a word, too.
    """

    def __init__(self, text: str, **words: Any) -> None:
        super().__init__(text.format(**words) if words else text)
        self._text, self._words = text, words

    def in_words_of(self, caller: Caller) -> str:
        """The text for a caller in another language."""
        if not self._words:
            return str(self)
        words = self._words.items()
        own = {name: each.in_words_of(caller) if hasattr(each, "in_words_of") else each for name, each in words}
        return self._text.format(**own)


class WireError(ValueError):
    """Bytes that do not follow the format.

    `offset` is the byte position in the buffer that was read, or -1 when it is not known; `path`
    names the field, outermost first, as in `FetchRequest.topics[3].partitions[0].fetch_offset`, or
    is empty.
    """

    def __init__(self, problem: str, *, offset: int = -1, path: str = "") -> None:
        super().__init__(problem)
        self.problem, self.offset, self.path = problem, offset, path

    def __str__(self) -> str:
        place = " at byte " + str(self.offset) if self.offset >= 0 else ""
        field = " in " + self.path if self.path else ""
        return self.problem + place + field


class Truncated(WireError):
    """The bytes end before the value does."""


class BadVarint(WireError):
    """A varint is longer than its type allows."""


class BadLength(WireError):
    """A length or a count is negative, past its bound, or more than the bytes that remain."""


class NullNotAllowed(WireError):
    """A null in a field that is not nullable in this version."""


class BadText(WireError):
    """A string is not UTF-8."""


class BadTag(WireError):
    """A tagged field does not have its announced size, appears twice, or is out of order."""


class TrailingBytes(WireError):
    """The message ended before its bytes did."""


class UnknownMessage(WireError):
    """No message has this key, or it has no such version."""


class CorruptBatch(WireError):
    """A record batch whose checksum or sizes disagree with its bytes."""


class InvalidRecord(WireError):
    """A record inside a batch whose lengths, counts or varints contradict its bytes (Kafka:
    INVALID_RECORD, where a CorruptBatch is CORRUPT_MESSAGE)."""


class UnsupportedMagic(CorruptBatch):
    """A record batch of a format (magic) that is not 0, 1 or 2."""


class BadCompression(WireError):
    """Compressed bytes that their codec refuses, or a codec that Kafka does not have."""


class TooLarge(WireError):
    """A frame or a decompressed size past the bound that was set."""
