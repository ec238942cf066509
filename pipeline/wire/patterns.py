r"""Translates the Java patterns of `subscribePattern` to Python.

Topic names have only letters, digits, dot, underscore and hyphen, so that Java and Python agree on
letters and line ends with re.ASCII. Rules: an accepted pattern has the same meaning as in Java.
Simple syntax that only Java has is translated (`\Q...\E`, `(?<name>...)`, `\p{Alpha}`, `\z`). Other
syntax that only Java has is refused, and the error names it (sets within sets, flags in the
middle).
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
        for match in _TOKEN.finditer(pattern):
            kind = match.lastgroup or "other"
            token = _token(match, kind, pattern, within)
            if within and (kind == "set" or match["and"]):
                raise _wrong(pattern, f"a set within a set ({match[0]}) exists only in Java")
            opened = kind == "set"
            within = opened or (within and match["end"] is None)
            made.append(token)
            if opened and pattern[match.end() : match.end() + 1] == "]":
                raise _wrong(pattern, "a set that begins with ] means something else in Java; write \\]")
        return re.compile("".join(made), re.ASCII)
    except re.error as problem:
        raise _wrong(pattern, str(problem)) from None


def _token(match: re.Match[str], kind: str, pattern: str, within: bool) -> str:
    if match["quote"] is not None:
        return re.escape(match["quoted"])
    if match["property"] is not None:
        name, negative = match["long"] or match["short"], match["sign"] == "P"
        if name not in _CLASSES or (negative and within):
            raise _wrong(pattern, f"{match[0]} is not supported")
        return _CLASSES[name] if within else f"[{'^' if negative else ''}{_CLASSES[name]}]"
    if match["back"] is not None:
        return f"(?P={match['to']})"
    if match["escape"] is not None:
        return _escape(match, pattern)
    if match["group"] is not None and not within:
        return f"(?P<{match['name']}>"
    is_misplaced = match["close"] == ")" and match.start() != 0
    if match["flags"] is not None and not within and (set(match[0]) & set("duU") or is_misplaced):
        raise _wrong(pattern, f"{match[0]} exists only in Java; write flags at the beginning of the pattern")
    return match[0]


def _escape(match: re.Match[str], pattern: str) -> str:
    letter = match["letter"]
    if letter in "zZ":
        return r"\Z"
    if letter == "h":
        return r"[ \t]"
    if letter.isalnum() and letter not in _PLAIN_ESCAPES:
        raise _wrong(pattern, f"{match[0]} exists only in Java")
    return match[0]


def _wrong(pattern: str, why: str) -> UsageError:
    return UsageError(f"the option subscribePattern cannot be used: {pattern!r}: {why}")
