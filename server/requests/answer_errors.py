"""Finds the error codes in a response, at any depth.

The fields of a class that can hold errors are found once; after that only these fields are read.
"""

from __future__ import annotations

from sys import intern
from typing import Any

from kafkadouble.messages.fields import fields_of


class _ErrorFields:
    """The fields of a struct that can hold errors: its own error codes, and the lists and structs
    that hold more, each with its own `_ErrorFields`. `only` is the single error code of a struct
    without inner lists and structs; most structs in long lists have one.
    """

    __slots__ = ("codes", "lists", "only", "structs")

    def __init__(self, cls: Any) -> None:
        fields = fields_of(cls)
        self.codes = tuple(intern(field.name) for field in fields if field.name.endswith("error_code"))
        found = [(field, _error_fields(field.struct)) for field in fields if field.struct is not None]
        inner = [(field, held) for field, held in found if held]
        self.lists = tuple((intern(field.name), held) for field, held in inner if field.array)
        self.structs = tuple((intern(field.name), held) for field, held in inner if not field.array)
        self.only = self.codes[0] if len(self.codes) == 1 and not inner else None

    def __bool__(self) -> bool:
        return bool(self.codes or self.lists or self.structs)


_known: dict[Any, _ErrorFields] = {}


def _error_fields(cls: Any) -> _ErrorFields:
    found = _known.get(cls)
    if found is None:
        found = _known[cls] = _ErrorFields(cls)
    return found


def codes_in(answer: Any) -> tuple[int, ...]:
    """The error codes of a response except 0, each once, outermost first."""
    codes: list[int] = []
    _collect(answer, _error_fields(answer.__class__), codes)
    return tuple(dict.fromkeys(codes)) if codes else ()


def _collect(struct: Any, fields: _ErrorFields, codes: list[int]) -> None:
    """Collects error codes. It loops without calls where it can: every captured response passes
    here.
    """
    for name in fields.codes:
        code = getattr(struct, name)
        if code:
            codes.append(code)
    for name, inner in fields.structs:
        held = getattr(struct, name)
        if held is not None:
            _collect(held, inner, codes)
    for name, inner in fields.lists:
        only = inner.only
        for item in getattr(struct, name) or ():
            if only is None:
                _collect(item, inner, codes)
            elif code := getattr(item, only):
                codes.append(code)
