"""Kafka's names in Python's spelling."""

from __future__ import annotations

import keyword

OURS = frozenset({"unknown_tagged_fields"})
"""Attributes of every struct: a field of that name would hide them."""

OURS_OF_MESSAGES = OURS | {
    "api_key", "versions", "flexible_from", "kind", "latest_version_unstable",
    "decode", "read", "encode", "parts", "to_json", "from_json",
}  # fmt: skip
"""Attributes of every message class."""


def snake(name: str) -> str:
    """`LogAppendTimeMs` as log_append_time_ms. As in Kafka, a run of capitals is one word
    (`KRaftVersion`, kraft_version)."""
    letters = []
    after_capital = True
    for letter in name:
        if letter.isupper() and not after_capital:
            letters.append("_")
        after_capital = letter.isupper()
        letters.append(letter.lower())
    return "".join(letters)


def attribute(name: str, taken: frozenset[str]) -> str:
    """The attribute for a field; with an underscore at the end when Python or our own classes use
    the name."""
    plain = snake(name)
    return plain + "_" if keyword.iskeyword(plain) or plain in taken else plain


def api(name: str) -> str:
    """The API of a request or response: `Fetch` of FetchRequest."""
    return name.removesuffix("Request").removesuffix("Response")


def module(name: str, kind: str) -> str:
    """The module that holds a message: request and response of an API share a module, and so do key
    and value of a coordinator record."""
    if kind in ("request", "response"):
        return snake(api(name))
    if kind in ("coordinator-key", "coordinator-value"):
        return snake(name.removesuffix("Key").removesuffix("Value")) + "_record"
    return snake(name)
