"""The example of the masters: with fencing no master writes after the claim of a later one; without
fencing, masters do."""

from __future__ import annotations

import random

import pytest

from examples.fenced_master import ROUNDS, Entry, main, play, violations


def test_fenced_log_is_written_by_one_master_after_the_other() -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    journal, masters = play(seed, fenced=True)
    assert [entry.master for entry in journal] == sorted(entry.master for entry in journal)
    assert [entry.offset for entry in journal] == list(range(len(journal)))
    assert [master.deposed is not None for master in masters] == [True] * (ROUNDS - 1) + [False]
    assert [entry.master for entry in journal if entry.what == "entry on its way"] == [ROUNDS]
    assert violations(journal) == []


def test_unfenced_log_is_written_by_an_old_master(capsys: pytest.CaptureFixture[str]) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    assert main(["--unfenced", "--seed", str(seed)]) == 1
    output = capsys.readouterr().out
    assert output.startswith(f"unfenced, seed {seed}\n")
    assert output.count("<- replaced before") == 2 * (ROUNDS - 1)
    assert "stepped down: none" in output


def test_record_of_an_old_master_is_a_violation() -> None:
    journal = [Entry(0, 1, "claim"), Entry(1, 1, "x"), Entry(2, 2, "claim"), Entry(3, 1, "y"), Entry(4, 2, "z")]
    assert violations(journal) == [journal[3]]
