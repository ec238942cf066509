"""docs/telemetry.md: every example runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.pages import DOCS, Block, blocks

pytest.importorskip("confluent_kafka")
pytest.importorskip("opentelemetry.proto")


@pytest.mark.parametrize(
    "example", list(blocks((DOCS / "telemetry.md").read_text(), "python")), ids=lambda example: f"line-{example.line}"
)
def test_example_runs(example: Block) -> None:
    names: dict[str, Any] = {"__name__": "telemetry"}
    exec(compile("\n" * example.line + example.text, "telemetry.md", "exec"), names)
