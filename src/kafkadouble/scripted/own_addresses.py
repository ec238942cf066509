"""Puts the addresses of a scripted double into recorded answers: clients come back to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkadouble.messages.fields import fields_of

NODE_FIELDS = ("node_id", "broker_id")

Address = tuple[str, int]


def readdress(struct: Any, addresses: Mapping[int, Address]) -> None:
    """Sets host and port of every broker in an answer, in place."""
    for name in NODE_FIELDS:
        if all(hasattr(struct, field) for field in (name, "host", "port")):
            struct.host, struct.port = addresses.get(getattr(struct, name), (struct.host, struct.port))
    for field in fields_of(type(struct)):
        if field.struct is not None and (value := getattr(struct, field.name)) is not None:
            for each in value if field.array else (value,):
                readdress(each, addresses)
