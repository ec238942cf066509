"""The example of the store: with conditional publish no answer is wrong; without it some are, and
the checker names them."""

from __future__ import annotations

import asyncio
import random

import pytest

from examples.key_value_store import CLIENTS, CONDITIONAL, HOPEFUL, KILLS, LOCAL_READS, OPERATIONS, main, play


def test_conditional_publish_makes_a_linearizable_store() -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    verdict, store = asyncio.run(play(CONDITIONAL, seed))
    assert verdict.linearizable, "\n".join(map(str, verdict.stuck))
    seen = store.seen
    assert len(store.history) == CLIENTS * OPERATIONS == seen["answered"] + seen["no answer"]
    assert seen["answered"] <= seen["records"] <= CLIENTS * OPERATIONS
    assert (seen["kills"], seen["refused"] > 0) == (KILLS, True), "no client raced"


@pytest.mark.parametrize("how", [HOPEFUL, LOCAL_READS])
def test_store_without_conditional_publish_is_not_linearizable(how: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each run has some hundred chances to go wrong. If a run has no wrong answer, which was never
    seen, the test runs it again, at most twice."""
    first = random.SystemRandom().randrange(1 << 32)
    outcomes = [main(["--how", how, "--seed", str(first)])]
    while outcomes[-1] == 0 and len(outcomes) < 3:
        outcomes.append(main(["--how", how, "--seed", str(first + len(outcomes))]))
    output = capsys.readouterr().out
    assert outcomes[-1] == 1, output
    assert "not linearizable" in output
    assert f"seed {first}" in output


def test_the_program_reports_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    output = capsys.readouterr().out
    assert output.startswith("conditional, seed ")
    assert "explains every answer" in output
