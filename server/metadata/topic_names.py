"""What a topic may be called. Dots and underscores look alike in names of metrics, so two topics may not differ in them only."""

from __future__ import annotations

import re

LONGEST = 249  # with a partition's number behind it, it must still be the name of a folder

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+\Z")


def problem_with_name(name: str) -> str | None:
    """Why a topic cannot have this name, in the words that clients show; None when it can."""
    why = _why(name)
    return None if why is None else f"Topic name is invalid: {why}"


def _why(name: str) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name.encode("utf-16-le", "surrogatepass")) // 2 > LONGEST:
        return f"the length of '{name}' is longer than the max allowed length {LONGEST}"
    if not _LEGAL.match(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def may_collide(name: str) -> bool:
    """Whether another name could look like this one."""
    return "." in name or "_" in name


def unified(name: str) -> str:
    """What all names that look alike have in common."""
    return name.replace(".", "_")
