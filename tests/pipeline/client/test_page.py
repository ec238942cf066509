"""docs/fetch.md and docs/client-settings.md: the snippets run, and the tables match the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline import client
from kafkadouble.pipeline.client import others
from kafkadouble.pipeline.client.settings import TABLE

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "fetch.md").read_text()
SETTINGS = (DOCS / "client-settings.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
EXPECTED = ("10 ['key', 'value', 'topic', 'partition', ", "7\n", "0 10 ")
"""How what each of them prints begins."""


@pytest.mark.parametrize("number", range(len(EXPECTED)))
def test_snippet_of_the_client_page_runs(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    with KafkaDouble() as double:
        for order in range(10):
            double.produce("orders", f"order {order}")
        exec(SNIPPETS[number].replace("localhost:9092", double.bootstrap_servers), {})
    assert capsys.readouterr().out.startswith(EXPECTED[number])


def test_snippets_on_the_page_of_the_client_run() -> None:
    assert len(SNIPPETS) == len(EXPECTED)


def test_every_setting_has_a_row_with_its_default() -> None:
    rows = re.findall(
        r"^\| `([a-z0-9.]+)` \| (.*?) \| (.*?) \|$", SETTINGS.split("## Settings\n")[1].split("\n## ")[0], re.MULTILINE
    )
    words = {None: "", "": "empty"}
    settings = [(each.name, words.get(each.default, f"`{each.default}`"), each.doc) for each in TABLE]
    assert rows[0] == ("bootstrap.servers", "must be given", settings[0][2])
    assert rows[1:] == settings[1:]


def test_every_setting_that_does_nothing_has_a_row() -> None:
    lines = SETTINGS.split("## Settings without an effect\n")[1].split("|---|---|---|---|\n")[1].splitlines()
    rows = []
    for each in others.BY_NAME.values():
        same = ", ".join(f"`{value}`" if value else "empty" for value in each.same)
        rows.append(f"| `{each.name}` | {'refused' if each.refused else 'no effect'} | {same} | {each.why} |")
    assert lines == rows


def test_every_error_has_a_row() -> None:
    named = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`[A-Z].*?) \|", PAGE, re.MULTILINE))))
    kinds = {name for name in client.__all__ if isinstance(getattr(client, name), type)}
    assert named == {name for name in kinds if issubclass(getattr(client, name), client.ClientError)} - {"ClientError"}
