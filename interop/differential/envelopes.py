"""The address that a forwarded request names."""

from __future__ import annotations

HERE = bytes((127, 0, 0, 1))
