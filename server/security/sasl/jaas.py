"""Parses `sasl.jaas.config` as Kafka's clients and brokers write it: one login module, a flag,
options, a semicolon.

    org.apache.kafka.common.security.plain.PlainLoginModule required
        username="alice" password="it's; \\"hers\\"";

Only this form is read, not a file of several. Any other text is a UsageError that shows no part of
it, because it contains passwords.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kafkadouble.wire.errors import UsageError

FLAGS = ("required", "requisite", "sufficient", "optional")

_TOKEN = re.compile(
    r"""\s+ | /\*.*?\*/ | //[^\n]* | \#[^\n]*
    | (?P<sign>[=;])
    | "(?P<double>(?:[^"\\]|\\.)*)" | '(?P<single>(?:[^'\\]|\\.)*)'
    | (?P<word>[^\s=;"'\#]+)""",
    re.VERBOSE | re.DOTALL,
)


class Login(NamedTuple):
    """A login module by the last part of its name, and its options."""

    module: str
    options: dict[str, str]

    def __repr__(self) -> str:
        """Without the values of the options, which are passwords."""
        return f"{self.module} with {', '.join(self.options) or 'no options'}"


def parse(text: str) -> Login:
    """Parses a text of this form. Raises UsageError."""
    tokens = _tokens(text)
    words = [token for token in tokens if not token.sign]
    signs = "".join(token.text if token.sign else "w" for token in tokens)
    if not re.fullmatch(r"ww(w=w)*;", signs) or words[1].text.lower() not in FLAGS:
        raise UsageError("sasl.jaas.config is not of the form: MODULE required NAME=VALUE ... ;")
    names, values = words[2::2], words[3::2]
    options = {name.text: value.text for name, value in zip(names, values, strict=True)}
    return Login(words[0].text.rpartition(".")[2], options)


class _Token(NamedTuple):
    """A word, in quotes or not, or a sign."""

    text: str
    sign: bool


def _tokens(text: str) -> list[_Token]:
    found, at = list[_Token](), 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise UsageError(f"sasl.jaas.config: what begins at character {at + 1} has no end, or no meaning")
        at = match.end()
        quoted = match["double"] if match["double"] is not None else match["single"]
        if quoted is not None:
            found.append(_Token(re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL), False))
        elif match["sign"] or match["word"]:
            found.append(_Token(match["sign"] or match["word"], match["sign"] is not None))
    return found
