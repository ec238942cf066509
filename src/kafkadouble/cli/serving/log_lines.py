"""The log of `serve` on stderr: lines of text, or an object of JSON in each line."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from kafkadouble.wire.client_log import printable

JSON = "json"


class TextLines(logging.Formatter):
    """Writes one line for each message; a traceback, which may quote a client, is indented below
    it."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def formatException(self, ei: Any) -> str:
        return "\n".join(f"  {printable(line)}" for line in super().formatException(ei).split("\n"))


class JsonLines(logging.Formatter):
    """`time` in UTC, `level`, `logger`, `message`, and for an error of the program `exception`."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": time, "level": record.levelname, "logger": record.name, "message": record.getMessage()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log_to_stderr(level: int, log_format: str) -> None:
    """Logs what is at least this severe."""
    handler, logger = logging.StreamHandler(sys.stderr), logging.getLogger("kafkadouble")
    handler.setFormatter(JsonLines() if log_format == JSON else TextLines())
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    logging.getLogger("asyncio").addHandler(handler)
