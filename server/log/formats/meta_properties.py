"""`meta.properties`: the cluster, the node and the directory's own id (KIP-631, KIP-858). A Java
properties file.

Version 1 is KRaft's. Version 0, which brokers with ZooKeeper wrote, calls the node `broker.id`; the
node and the cluster may be missing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import UsageError

from ...configs.properties import parse_properties
from .checkpoint_text import text_of
from .errors import BadFile

VERSION = 1
_INT = re.compile(r"[+-]?[0-9]{1,10}\Z")


class MetaProperties(NamedTuple):
    """The content of the file; None and -1 for what is missing."""

    cluster_id: str | None
    node_id: int
    directory_id: Uuid | None = None
    version: int = VERSION


def read(data: bytes, file: str = "") -> MetaProperties:
    """Reads the file. BadFile for an unknown version, for a value that is not a number, and for a
    missing value that version 1 requires."""
    text = text_of(data, file)
    try:
        lines = {key: (value, number) for number, key, value in parse_properties(text)}
    except UsageError as error:
        raise BadFile(str(error), file=file, offset=0) from None
    found = _Found({key: value for key, (value, _) in lines.items()}, _line_starts(data, lines), file)
    version = found.integer("version", 0)
    if version not in (0, VERSION):
        raise found.bad("version", f"version {version} is not known")
    cluster_id = found.values.get("cluster.id")
    node_id = found.integer("node.id" if version else "broker.id", None if version else -1)
    if version and cluster_id is None:
        raise BadFile("cluster.id is missing", file=file, offset=len(data))
    return MetaProperties(cluster_id, node_id, found.uuid("directory.id"), version)


def write(properties: MetaProperties) -> bytes:
    """A whole file, without the date that Java writes into it."""
    lines = [
        ("version", properties.version),
        ("cluster.id", properties.cluster_id),
        ("node.id" if properties.version else "broker.id", properties.node_id if properties.node_id >= 0 else None),
        ("directory.id", properties.directory_id),
    ]
    return "".join(f"{key}={_escaped(str(value))}\n" for key, value in lines if value is not None).encode()


class _Found(NamedTuple):
    values: dict[str, str]
    starts: dict[str, int]
    file: str

    def bad(self, key: str, problem: str) -> BadFile:
        return BadFile(problem, file=self.file, offset=self.starts.get(key, 0))

    def integer(self, key: str, default: int | None) -> int:
        value = self.values.get(key)
        if value is None:
            if default is None:
                raise self.bad(key, f"{key} is missing")
            return default
        if _INT.match(value) is None or not -(2**31) <= int(value) < 2**31:
            raise self.bad(key, f"{key} {value!r} is no number")
        return int(value)

    def uuid(self, key: str) -> Uuid | None:
        value = self.values.get(key)
        try:
            return None if value is None else Uuid.parse(value)
        except UsageError as error:
            raise self.bad(key, f"{key}: {error}") from None


def _line_starts(data: bytes, lines: dict[str, tuple[str, int]]) -> dict[str, int]:
    """The position of the line of each property."""
    starts = [0, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", data))]
    return {key: starts[number - 1] for key, (_, number) in lines.items()}


def _escaped(value: str) -> str:
    """A value as Java writes it, with a backslash before each character that has a meaning in the
    format."""
    special = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
    text = "".join(special.get(each, each) for each in value)
    return "\\" + text if text[:1] in (" ", "=", ":") else text
