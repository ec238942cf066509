"""The rules for topic names. Metric names do not distinguish dots and underscores, so two topics
must differ in more than these.
"""

from __future__ import annotations

import re

MAX_LENGTH = 249  # followed by a partition number it must still be a valid folder name

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+\Z")


def problem_with_name(name: str) -> str | None:
    """Why a topic cannot have this name, in the words that clients show; None for a valid name."""
    why = _invalid_reason(name)
    return None if why is None else f"Topic name is invalid: {why}"


def _invalid_reason(name: str) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name.encode("utf-16-le", "surrogatepass")) // 2 > MAX_LENGTH:
        return f"the length of '{name}' is longer than the max allowed length {MAX_LENGTH}"
    if not _LEGAL.match(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def has_collision_chars(name: str) -> bool:
    """Whether another name may collide with this one."""
    return "." in name or "_" in name


def unify_collision_chars(name: str) -> str:
    """The same text for all names that collide."""
    return name.replace(".", "_")
