"""docs/dump.md: its examples print what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkadouble.__main__ import main
from kafkadouble.server.transactions.transaction_state import DEAD, LABELS, PREPARE_EPOCH_FENCE

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "dump.md").read_text()
CALLS = re.findall(r"```console\n\$ kafkadouble ([^\n]*)\n(.*?)```", PAGE, re.DOTALL)
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_page_of_dump_has_examples() -> None:
    assert (len(CALLS), len(PROGRAMS)) == (4, 1)


@pytest.mark.parametrize(("words", "expected"), CALLS, ids=[words.split()[-1].rpartition("/")[2] for words, _ in CALLS])
def test_a_call_prints_the_output_on_the_page(
    words: str, expected: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(words.split()) == 0
    output = capsys.readouterr()
    assert output.err == ""
    if expected.endswith("...\n"):
        assert output.out.startswith(expected.removesuffix("...\n"))
    else:
        assert output.out == expected


def test_program_on_the_page_of_dump_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(PROGRAMS[0], "dump.md", "exec"), {"__name__": "page"})
    output = capsys.readouterr().out.splitlines()
    assert output[0] == "0 Raw(data=None)"
    assert output[-3:] == ["good", "[offset 0 of epoch 0]", "48"]


def test_the_states_of_transactions_have_their_numbers() -> None:
    """Those that a log can have."""
    rows = re.findall(r"^\| (\d) \| (\w+) \|$", PAGE, re.MULTILINE)
    in_memory = (DEAD, PREPARE_EPOCH_FENCE)
    assert rows == [(str(state.value), label) for state, label in LABELS.items() if state not in in_memory]
