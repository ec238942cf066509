"""Parses Java's properties files: text in, settings with their line numbers out.

The rules are those of java.util.Properties:

- `#` and `!` begin a comment line.
- A line that ends in an odd number of backslashes continues in the next line, whose leading blanks
  are dropped.
- A key ends at the first `=`, `:` or blank that has no backslash before it.
- `\\t`, `\\n`, `\\r`, `\\f` and `\\uXXXX` are characters; any other character after a backslash
  is itself.
- Trailing blanks belong to the value.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkadouble.wire.errors import UsageError

BLANKS = " \t\f"
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse_properties(text: str, file: str = "properties") -> list[tuple[int, str, str]]:
    """The line number (from 1), key and value of every setting, in order, with repeated keys.

    `file` names the text in errors.
    """
    found = []
    for number, line in _logical_lines(text):
        key, value = _split(line)
        try:
            found.append((number, _plain(key), _plain(value)))
        except ValueError:
            raise UsageError(f"{file} line {number}: \\u must be followed by four hexadecimal digits") from None
    return found


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    logical, start = "", 0
    for number, natural in enumerate(lines, 1):
        line = natural.lstrip(BLANKS)
        if not logical:
            start = number
            if line[:1] in ("", "#", "!"):
                continue
        logical += line
        # An odd number of backslashes at the end continues the line.
        if (len(line) - len(line.rstrip("\\"))) % 2 == 0:
            yield start, logical
            logical = ""
            continue
        logical = logical[:-1]
        # Java reads a lone backslash at the end of the text as an empty key, unless its line ends
        # with two characters.
        if number == len(lines) and (logical or not text.endswith("\r\n")):
            yield start, logical


def _split(line: str) -> tuple[str, str]:
    end = 0
    while end < len(line) and line[end] not in "=:" + BLANKS:
        end += 2 if line[end] == "\\" else 1
    value = line[end:].lstrip(BLANKS)
    if value[:1] in ("=", ":"):
        value = value[1:].lstrip(BLANKS)
    return line[:end], value


def _plain(escaped: str) -> str:
    if "\\" not in escaped:
        return escaped
    characters = []
    place = 0
    while place < len(escaped):
        character = escaped[place]
        place += 1
        if character == "\\":
            character = escaped[place : place + 1]
            place += 1
            if character == "u":
                character = _unicode(escaped[place : place + 4])
                place += 4
            character = ESCAPES.get(character, character)
        characters.append(character)
    # A pair of surrogates becomes one character.
    return "".join(characters).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unicode(digits: str) -> str:
    if len(digits) < 4 or not digits.isalnum() or not digits.isascii():
        raise ValueError(digits)
    return chr(int(digits, 16))
