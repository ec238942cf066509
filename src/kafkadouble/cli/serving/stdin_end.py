"""The end of stdin as the end of `serve`.

A program that starts `serve` holds the other end of its stdin. The system closes that end when the
program ends in whatever way, also by a crash or SIGKILL, and not before its exit handlers are done.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress

STDIN = 0
PART = 4096
"""Bytes that are read at once; they mean nothing."""


def set_at_end(ended: asyncio.Event) -> None:
    """Sets the event when stdin ends. Call it on the event loop."""
    loop = asyncio.get_running_loop()

    def watch() -> None:
        with suppress(OSError):  # a stdin that is closed has ended
            while os.read(STDIN, PART):
                pass
        with suppress(RuntimeError):  # the loop has ended before
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=watch, name="end of stdin", daemon=True).start()
