"""The levels of this node's loggers, in DescribeConfigs and IncrementalAlterConfigs (KIP-412).

They are the loggers of this program; `kafkadouble` stands for Kafka's `root`. All nodes of one
process share them; nothing is written to the metadata log. A logger without its own level has its
parent's.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from kafkadouble.messages import error_codes

from ..configs.alter import AlterConfigOp, AlterConfigOpType
from ..requests.request import Refusal

ROOT = "root"
TOP = "kafkadouble"

LEVELS = {
    "DEBUG": logging.DEBUG,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
    "INFO": logging.INFO,
    "TRACE": 5,
    "WARN": logging.WARNING,
}
"""Kafka's names of the levels, and Python's numbers."""


def logger_levels() -> dict[str, str]:
    """Every logger and its effective level."""
    names = sorted(name for name in logging.root.manager.loggerDict if name.startswith(f"{TOP}."))
    return {name: _level_name(_logger(name)) for name in (ROOT, *names)}


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(TOP if name == ROOT else name)


def _level_name(logger: logging.Logger) -> str:
    """The name of the least level that the logger logs."""
    effective = logger.getEffectiveLevel()
    fitting = [(number, name) for name, number in LEVELS.items() if number >= effective]
    return min(fitting)[1] if fitting else "FATAL"


def alter_logger_levels(own_id: int, node_id: str, changes: Iterable[AlterConfigOp], *, validate_only: bool) -> None:
    """Sets and unsets levels, all or none. Refusal if one is not allowed."""
    requested = list(changes)
    if len({change.name for change in requested}) < len(requested):
        raise Refusal(error_codes.INVALID_REQUEST, "Error due to duplicate config keys")
    nulls = [
        change.name for change in requested if change.operation != AlterConfigOpType.DELETE and change.value is None
    ]
    if nulls:
        raise Refusal(error_codes.INVALID_REQUEST, f"Null value not supported for : {', '.join(nulls)}")
    if not node_id.lstrip("+-").isdecimal():
        raise Refusal(error_codes.INVALID_REQUEST, f"Node id must be an integer, but it is: {node_id}")
    if int(node_id) != own_id:
        raise Refusal(error_codes.INVALID_REQUEST, f"Unexpected node id. Expected {own_id}, but received {node_id}")
    known = logger_levels()
    for change in requested:
        _check(change, known)
    for change in () if validate_only else requested:
        level = LEVELS[str(change.value)] if change.operation == AlterConfigOpType.SET else logging.NOTSET
        _logger(change.name).setLevel(level)


def _check(change: AlterConfigOp, known: dict[str, str]) -> None:
    if change.operation not in (AlterConfigOpType.SET, AlterConfigOpType.DELETE):
        message = f"{_operation_name(change.operation)} is not allowed for the BROKER_LOGGER resource"
        raise Refusal(error_codes.INVALID_REQUEST, message)
    if change.name not in known:
        raise Refusal(error_codes.INVALID_CONFIG, f"Logger {change.name} does not exist!")
    if change.operation == AlterConfigOpType.DELETE and change.name == ROOT:
        raise Refusal(error_codes.INVALID_REQUEST, "Removing the log level of the root logger is not allowed")
    if change.operation == AlterConfigOpType.SET and change.value not in LEVELS:
        message = f"as it is not a supported log level. Valid log levels are {', '.join(LEVELS)}"
        raise Refusal(
            error_codes.INVALID_CONFIG, f"Cannot set the log level of {change.name} to {change.value} {message}"
        )


def _operation_name(number: int) -> str:
    return (
        f"{AlterConfigOpType(number).name} operation"
        if number in set(AlterConfigOpType)
        else f"Unknown operation type {number}"
    )
