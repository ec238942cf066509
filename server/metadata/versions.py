"""In which version each metadata record is written at metadata.version 33 (Kafka 4.4): the highest that the record has."""

from __future__ import annotations

from typing import Any


def record_version(record: Any) -> int:
    """The version to write `record` in."""
    highest: int = record.versions[1]
    return highest
