"""In which version each metadata record is written at metadata.version 33 (Kafka 4.4): the highest that the record has.

BrokerRegistrationChangeRecord is the exception: Kafka writes the lowest version that can carry what is said.
"""

from __future__ import annotations

from typing import Any


def record_version(record: Any) -> int:
    """The version to write `record` in."""
    if type(record).__name__ == "BrokerRegistrationChangeRecord":
        return _change_version(record)
    highest: int = record.versions[1]
    return highest


def _change_version(record: Any) -> int:
    if record.cordoned_log_dirs is not None:
        return 3
    if record.log_dirs:
        return 2
    return 1 if record.in_controlled_shutdown else 0
