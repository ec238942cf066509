"""Reads the default of a field from the JSON of the specification.

Kafka reads every default as text, so `-1`, `"-1"`, `false` and `"false"` are the same; a JSON null
is the empty text, which differs from the text `null`: it means the empty value of the type.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from .model import INTEGERS, OWN_DEFAULTS
from .versions import Versions


def default_of(written: object, kind: str, array: bool, struct: bool, versions: Versions, nullable: Versions) -> object:
    """The default as a Python value. Raises ValueError with the reason when there is none."""
    text = _text(written)
    if text == "null" and (array or struct or kind in ("string", "bytes", "records")):
        if not versions.within(nullable):
            raise ValueError("null cannot be the default: not all versions are nullable")
        return None
    if array or struct:
        return _empty(text, () if array else OWN_DEFAULTS)
    if kind in INTEGERS:
        return _integer(text, kind)
    return _SIMPLE[kind](text)


def _text(written: object) -> str:
    if written is None:
        return ""
    if isinstance(written, bool):
        return str(written).lower()
    if isinstance(written, (str, int, float)):
        return str(written)
    raise ValueError(f"a default is a scalar, not {written!r}")


def _empty(text: str, value: object) -> object:
    if text:
        raise ValueError(f"the default can only be empty or null, not {text!r}")
    return value


def _integer(text: str, kind: str) -> int:
    try:
        value = int(text, 16 if text.startswith("0x") else 10) if text else 0
    except ValueError:
        raise ValueError(f"{text!r} is no default for {kind}") from None
    low, high = INTEGERS[kind]
    if not low <= value <= high:
        raise ValueError(f"the default {text} does not fit in {kind}")
    return value


def _bool(text: str) -> bool:
    if text.lower() not in ("", "true", "false"):
        raise ValueError(f"{text!r} is no default for bool")
    return text.lower() == "true"


def _float(text: str) -> float:
    try:
        return float(text or "0")
    except ValueError:
        raise ValueError(f"{text!r} is no default for float64") from None


def _uuid(text: str) -> bytes:
    try:
        value = base64.b64decode(text + "==", altchars=b"-_", validate=True) if text else bytes(16)
    except binascii.Error:
        value = b""
    if len(value) != 16:
        raise ValueError(f"{text!r} is no default for uuid")
    return value


_SIMPLE: dict[str, Callable[[str], object]] = {
    "bool": _bool,
    "float64": _float,
    "uuid": _uuid,
    "string": lambda text: text,
    "bytes": lambda text: _empty(text, b""),
    "records": lambda text: _empty(text, None),
}
