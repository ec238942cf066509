"""Bytes per second over the last while, as Apache Kafka measures what it throttles replicas by (its `SimpleRate` of a sampled sum).

Rules. What is recorded goes into a window; when the window is over, into the next one. There are one more of them than are counted, and one
that nobody wrote to for as long as all of them last is emptied, and begins anew then. The rate is the sum of all windows over the time since
the oldest began, which is at least that of one; the first begins with the first look. This file knows no clock: `now` is ms.
"""

from __future__ import annotations


class Window:
    """Bytes since `start`; `last` is when some were added."""

    __slots__ = ("bytes", "last", "start")

    def __init__(self, now: int) -> None:
        self.begin(now)

    def begin(self, now: int) -> None:
        """Empty, from now on."""
        self.bytes, self.start, self.last = 0, now, now


class Rate:
    """`count` windows of `length` ms each."""

    __slots__ = ("_at", "_windows", "count", "length")

    def __init__(self, count: int, length: int) -> None:
        self.count, self.length = count, length
        self._windows: list[Window] = []
        self._at = 0  # the window that is written to

    def record(self, size: int, now: int) -> None:
        """So many bytes went now."""
        if not self._windows:
            self._windows.append(Window(now))
        window = self._windows[self._at]
        if now - window.start >= self.length:
            window = self._next(now)
        window.bytes += size
        window.last = now

    def _next(self, now: int) -> Window:
        self._at = (self._at + 1) % (self.count + 1)
        if self._at == len(self._windows):
            self._windows.append(Window(now))
        else:
            self._windows[self._at].begin(now)
        return self._windows[self._at]

    def measured(self, now: int) -> float:
        """Bytes per second."""
        if not self._windows:
            self._windows.append(Window(now))
        for window in self._windows:
            if now - window.last >= self.count * self.length:
                window.begin(now)
        since = max(self.length, now - min(window.start for window in self._windows))
        return sum(window.bytes for window in self._windows) * 1000 / since

    def __repr__(self) -> str:
        return f"{sum(window.bytes for window in self._windows)} bytes in {len(self._windows)} windows"
