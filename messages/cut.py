"""Cuts texts that are too long for the wire: an error message that quotes a client's string,
perhaps twice, may be longer than a string can be."""

from __future__ import annotations

from kafkadouble.wire.primitives import LONGEST_TEXT

from .fields import fields_of
from .message import Struct

END = "..."


def cut_texts(struct: Struct) -> bool:
    """Cuts, in place, every string of a message that no version could carry. Returns whether there
    was one."""
    found = False
    for field in fields_of(type(struct)):
        value = getattr(struct, field.name)
        if value is None:
            continue
        if field.struct is not None:
            for each in value if field.array else (value,):
                found |= cut_texts(each)
        elif field.type == "string" and not field.array and len(value.encode()) > LONGEST_TEXT:
            setattr(struct, field.name, value.encode()[: LONGEST_TEXT - len(END)].decode(errors="ignore") + END)
            found = True
    return found
