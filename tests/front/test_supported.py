"""docs/supported.md says what dispatch goes by."""

import json
from pathlib import Path

import pytest

from kafkadouble.cli import supported
from kafkadouble.cli.parts.supported import as_markdown, as_text, rows, rows_of_controllers
from kafkadouble.server.apis.served import CONTROLLER_TABLE, TABLE

DOCUMENT = Path(__file__).parents[2] / "docs" / "supported.md"


def test_the_document_is_fresh() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == as_markdown(), (
        "run: python -m kafkadouble supported --markdown > docs/supported.md"
    )


def test_every_api_has_a_row() -> None:
    assert {row["name"] for row in rows()} == {served.name for served in TABLE}
    assert len(as_text(rows()).splitlines()) == len(TABLE)
    assert all(f"| {served.api.key} | {served.name} |" in as_markdown() for served in TABLE)


def test_versions_that_differ_have_a_reason() -> None:
    assert [row["name"] for row in rows() if row["versions"] != row["advertised"] and not row["reason"]] == []


def test_supported_lists_the_apis_of_controllers(capsys: pytest.CaptureFixture[str]) -> None:
    assert supported.main(["--controllers", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == rows_of_controllers()
    assert {row["name"] for row in rows_of_controllers()} == {served.name for served in CONTROLLER_TABLE}
    assert supported.main(["--controllers"]) == 0
    assert " 55  DescribeQuorum                   0-2" in capsys.readouterr().out.splitlines()
    with pytest.raises(SystemExit):
        supported.main(["--controllers", "--markdown"])
    assert "the page about brokers" in capsys.readouterr().err
