"""Regular expressions of clients, matched as Kafka's RE2/J does (KIP-848, KIP-1152).

RE2, RE2/J's sibling in C++, matches in time that is linear in the length of the text. The two agree
on what a pattern matches; they differ on a few patterns that only one of them accepts. `translate`
levels these differences, and removes capturing groups, which cost time and answer nothing here.
Classes as `\\pL` follow Unicode 6.0 in RE2/J, and a later version in RE2.

A compiled pattern takes at most MAX_MEM bytes. RE2/J has no such bound; here a larger pattern is
invalid: `\\pL{20}` is accepted and `\\pL{100}` is not. RE2 releases the GIL while it matches.
"""

from __future__ import annotations

import re
from typing import Any

MAX_MEM = 1 << 20
"""The largest size in bytes of a compiled pattern, with the states that RE2 caches."""

REPEAT = r"\{(?:0|[1-9][0-9]*)(?:,(?:0|[1-9][0-9]*)?)?\}"

TOKEN = re.compile(
    rf"""
      \\Q .*? (?: \\E | \Z )                     # literal text
    | (?P<class> \[ \^? \]? (?: \[:\^?[a-z]*:\] | \\. | [^\]\\] )*+ \] )
    | (?P<refused>
          \[                                     # a class without its end
        | \\C                                    # one byte
        | \{{ (?= [*+?] | {REPEAT} )              # a literal brace that is repeated
        | (?= \{{ [0-9,]* [1-9][0-9]{{4}} ) {REPEAT} # too often; RE2 takes it for literal text
      )
    | \\ (?P<escaped> [^\x00-\x7f] )            # RE2 knows escapes of ASCII only
    | \\ .
    | \( \? P? < (?P<name> [^>(]* ) >           # a named group
    | {REPEAT}
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
"""The tokens of a pattern. It is applied in linear time, whatever the pattern."""

ESCAPE_IN_CLASS = re.compile(r"\\(.)", re.DOTALL)
GROUP_NAME = re.compile(r"[A-Za-z0-9_]+")


class InvalidRegularExpression(Exception):
    """A pattern that Kafka refuses with INVALID_REGULAR_EXPRESSION. The text says why."""


class Pattern:
    """A compiled pattern. A match covers the whole text."""

    __slots__ = ("_regexp", "text")

    def __init__(self, text: str, regexp: Any) -> None:
        self.text, self._regexp = text, regexp

    def matches(self, text: str) -> bool:
        """Whether the pattern matches the whole of `text`."""
        return self._regexp.fullmatch(text.encode()) is not None

    def __repr__(self) -> str:
        return f"the pattern {self.text!r}"


def compile_pattern(text: str) -> Pattern:
    """Raises InvalidRegularExpression."""
    import re2  # takes 6 ms, and few requests have a pattern

    options = re2.Options()
    options.max_mem, options.never_capture, options.log_errors = MAX_MEM, True, False
    try:
        regexp = re2.compile(translate(text).encode(), options)
    except re2.error as problem:
        raise InvalidRegularExpression(problem.args[0].decode("utf-8", "replace")) from None
    re2.purge()  # else the library keeps the last 128 patterns, of MAX_MEM each
    return Pattern(text, regexp)


def translate(text: str) -> str:
    """The same pattern for RE2. Raises InvalidRegularExpression for what RE2/J refuses and RE2 does
    not; a pattern that both refuse stays invalid."""
    names: set[str] = set()

    def translated(token: re.Match[str]) -> str:
        if token["refused"]:
            raise InvalidRegularExpression(f"invalid class, escape or repetition: {token['refused']}")
        if token["escaped"]:
            return token["escaped"]
        if token["class"]:
            return ESCAPE_IN_CLASS.sub(lambda escape: escape[0] if escape[1].isascii() else escape[1], token[0])
        if (name := token["name"]) is None:
            return token[0]
        if name in names or not GROUP_NAME.fullmatch(name):
            raise InvalidRegularExpression(f"invalid or duplicate capture group name: {name}")
        names.add(name)
        return "(?:"

    return TOKEN.sub(translated, text)
