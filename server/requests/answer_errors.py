"""The errors in an answer, wherever they stand in it: of each class the places are found once, and then only those are looked at."""

from __future__ import annotations

from sys import intern
from typing import Any

from kafkadouble.messages.fields import fields_of


class _Places:
    """Where errors can stand in a struct: the names of its own fields, and those of its lists and structs that hold more, with their places.
    `only` is the one field of a struct that has no other such, as most in long lists are."""

    __slots__ = ("codes", "lists", "only", "structs")

    def __init__(self, cls: Any) -> None:
        fields = fields_of(cls)
        self.codes = tuple(intern(field.name) for field in fields if field.name.endswith("error_code"))
        found = [(field, _places(field.struct)) for field in fields if field.struct is not None]
        inner = [(field, places) for field, places in found if places]
        self.lists = tuple((intern(field.name), places) for field, places in inner if field.array)
        self.structs = tuple((intern(field.name), places) for field, places in inner if not field.array)
        self.only = self.codes[0] if len(self.codes) == 1 and not inner else None

    def __bool__(self) -> bool:
        return bool(self.codes or self.lists or self.structs)


_known: dict[Any, _Places] = {}


def _places(cls: Any) -> _Places:
    found = _known.get(cls)
    if found is None:
        found = _known[cls] = _Places(cls)
    return found


def codes_in(answer: Any) -> tuple[int, ...]:
    """All error codes in a response but 0, each once, outermost first."""
    codes: list[int] = []
    _collect(answer, _places(answer.__class__), codes)
    return tuple(dict.fromkeys(codes)) if codes else ()


def _collect(struct: Any, places: _Places, codes: list[int]) -> None:
    """Loops, and no calls where there need be none: every answer that is captured passes here."""
    for name in places.codes:
        code = getattr(struct, name)
        if code:
            codes.append(code)
    for name, inner in places.structs:
        held = getattr(struct, name)
        if held is not None:
            _collect(held, inner, codes)
    for name, inner in places.lists:
        only = inner.only
        for item in getattr(struct, name) or ():
            if only is None:
                _collect(item, inner, codes)
            elif code := getattr(item, only):
                codes.append(code)
