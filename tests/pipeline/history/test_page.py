"""docs/history.md: its snippets run, and its tables are those that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkadouble.pipeline.history import metadata, offsets, spans, transactions
from kafkadouble.pipeline.logs.levels import level_of, options_of

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "history.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
TABLES = {"metadata": metadata.TABLES, "offsets": offsets.TABLES, "transactions": transactions.TABLES}


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_snippet_of_the_history_page_runs(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    kafka = ROOT / "tests" / "golden" / "log_directory"
    exec(SNIPPETS[number].replace("/var/kafka-logs", str(kafka)), {})
    assert "mixed" in capsys.readouterr().out


@pytest.mark.parametrize("level", TABLES)
def test_a_level_has_the_tables_that_the_page_names(level: str) -> None:
    section = PAGE.split(f"## level={level}\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(TABLES[level])
    for table in TABLES[level]:
        assert level_of(level).schema(options_of(level, {"table": table})).names == list(TABLES[level][table].fields)


def test_history_rows_on_the_page_have_their_time() -> None:
    named = {name for name in spans.FIELDS if name.startswith("valid_")} | {"current"}
    assert named <= set(re.findall(r"`(\w+)`", PAGE))
