"""The folder with the jars of an Apache Kafka, as `--kafka-home` takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.local import Missing, jars


def release() -> Path:
    """The folder; skips the test if the jars cannot be had."""
    try:
        (jar, *_) = jars()
    except Missing as reason:
        pytest.skip(str(reason))
    return jar.parent
