r"""Translates the Java patterns of `subscribePattern` to Python.

Topic names have only letters, digits, dot, underscore and hyphen, so that Java and Python agree on
letters and line ends with re.ASCII. Rules: syntax that only Java has is translated where that is
simple (`\Q...\E`, `(?<name>...)`, `\p{Alpha}`, `\z`) and refused by its name where not (sets within
sets, flags in the middle): an accepted pattern has the same meaning as in Java.
"""

from __future__ import annotations

import re

from kafkadouble.wire.errors import UsageError

_CLASSES = {
    "Lower": "a-z", "Upper": "A-Z", "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9", "XDigit": "0-9a-fA-F", "ASCII": r"\x00-\x7f",
    "Punct": r"!-/:-@\[-`{-~", "Graph": "!-~", "Print": " -~", "Blank": r" \t", "Space": r"\s", "Cntrl": r"\x00-\x1f\x7f",
    "L": "a-zA-Z", "Lu": "A-Z", "Ll": "a-z", "N": "0-9", "Nd": "0-9",
    "IsAlphabetic": "a-zA-Z", "IsUppercase": "A-Z", "IsLowercase": "a-z", "IsDigit": "0-9",
    "javaLowerCase": "a-z", "javaUpperCase": "A-Z",
}  # fmt: skip
_PLAIN_ESCAPES = frozenset("dDsSwWbBAtnrfax0123456789")
_TOKEN = re.compile(
    r"""(?P<quote>\\Q(?P<quoted>.*?)(?:\\E|\Z))
      | (?P<property>\\(?P<sign>[pP])(?:\{(?P<long>\w+)\}|(?P<short>\w)))
      | (?P<back>\\k<(?P<to>\w+)>)
      | (?P<escape>\\(?P<letter>.))
      | (?P<group>\(\?<(?P<name>[A-Za-z][A-Za-z0-9]*)>)
      | (?P<flags>\(\?[a-zA-Z]*(?:-[a-zA-Z]+)?(?P<close>[):]))
      | (?P<set>\[\^?)
      | (?P<end>\])
      | (?P<and>&&)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, to be searched in topic names. Raises UsageError for a pattern that Java
    refuses, or that only Java can read."""
    try:
        made: list[str] = []
        within = False
        for found in _TOKEN.finditer(pattern):
            kind = found.lastgroup or "other"
            token = _token(found, kind, pattern, within)
            if within and (kind == "set" or found["and"]):
                raise _wrong(pattern, f"a set within a set ({found[0]}) is Java's alone")
            opened = kind == "set"
            within = opened or (within and found["end"] is None)
            made.append(token)
            if opened and pattern[found.end() : found.end() + 1] == "]":
                raise _wrong(pattern, "a set that begins with ] means something else in Java; write \\]")
        return re.compile("".join(made), re.ASCII)
    except re.error as problem:
        raise _wrong(pattern, str(problem)) from None


def _token(found: re.Match[str], kind: str, pattern: str, within: bool) -> str:
    if found["quote"] is not None:
        return re.escape(found["quoted"])
    if found["property"] is not None:
        name, negative = found["long"] or found["short"], found["sign"] == "P"
        if name not in _CLASSES or (negative and within):
            raise _wrong(pattern, f"{found[0]} is not known here")
        return _CLASSES[name] if within else f"[{'^' if negative else ''}{_CLASSES[name]}]"
    if found["back"] is not None:
        return f"(?P={found['to']})"
    if found["escape"] is not None:
        return _escape(found, pattern)
    if found["group"] is not None and not within:
        return f"(?P<{found['name']}>"
    is_misplaced = found["close"] == ")" and found.start() != 0
    if found["flags"] is not None and not within and (set(found[0]) & set("duU") or is_misplaced):
        raise _wrong(pattern, f"{found[0]} is Java's alone; flags for all stand at the beginning")
    return found[0]


def _escape(found: re.Match[str], pattern: str) -> str:
    letter = found["letter"]
    if letter in "zZ":
        return r"\Z"
    if letter == "h":
        return r"[ \t]"
    if letter.isalnum() and letter not in _PLAIN_ESCAPES:
        raise _wrong(pattern, f"{found[0]} is Java's alone")
    return found[0]


def _wrong(pattern: str, why: str) -> UsageError:
    return UsageError(f"the option subscribePattern cannot be used: {pattern!r}: {why}")
