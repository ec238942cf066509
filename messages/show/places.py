"""Finds the fields for the paths of a trace, and which of them are secret.

Only `sentence` knows which fields are secrets.
"""

from __future__ import annotations

import re

from ..fields import FieldInfo, fields_of
from ..message import Message, Struct
from ..sentence import is_secret

_INDEX = re.compile(r"\[\d+\]")


class Places:
    """The fields of one message by path: `FetchRequest.topics[3].partitions[0].fetch_offset`."""

    def __init__(self, cls: type[Message]) -> None:
        self._known: dict[str, tuple[FieldInfo | None, type[Struct]]] = {cls.__name__: (None, cls)}
        self._names: dict[str, str] = {}

    def field(self, path: str) -> FieldInfo | None:
        """The field of this path; None for a whole struct, and for an unknown tag."""
        return self._find(_INDEX.sub("", path))[0]

    def learn(self, path: str, value: object) -> None:
        """Remembers a name that decides whether the value beside it is secret."""
        if path.endswith(".name") and isinstance(value, str):
            self._names[path] = value

    def is_secret(self, path: str) -> bool:
        parent = path.rpartition(".")[0]
        field = self.field(path)
        if field is None or not parent:
            return False
        owner = self._find(_INDEX.sub("", parent))[1]()
        if hasattr(owner, "name"):
            owner.name = self._names.get(f"{parent}.name", "")
        return is_secret(field, owner)

    def _find(self, path: str) -> tuple[FieldInfo | None, type[Struct]]:
        found = self._known.get(path)
        if found is None:
            parent, _, name = path.rpartition(".")
            owner = self._find(parent)[1] if parent else Struct
            field = next((field for field in fields_of(owner) if field.name == name), None) if parent else None
            found = self._known[path] = field, (field.struct if field is not None and field.struct else owner)
        return found


def holds_secrets(cls: type[Struct]) -> bool:
    """Whether any field of a message may be a secret: then its unreadable bytes may be one, too."""
    probe = cls()
    if hasattr(probe, "name"):
        probe.name = "password"
    return any(
        is_secret(field, probe) or (field.struct is not None and holds_secrets(field.struct))
        for field in fields_of(cls)
    )
