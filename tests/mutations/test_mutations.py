"""The table of mutations is up to date, and the tests detect a few of them, chosen by each run.
All: `python -m tests.mutations`."""

from __future__ import annotations

import ast
import random

import pytest

from .mutation import HOUSE
from .running import Verdict, run
from .table import MUTATIONS

SAMPLE = 2


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_row_fits_the_source(name: str) -> None:
    mutation = MUTATIONS[name]
    source = (HOUSE / mutation.path).read_text()
    mutated = mutation.apply(source)
    assert ast.dump(ast.parse(mutated)) != ast.dump(ast.parse(source))
    assert mutation.why
    for test in mutation.tests:
        path, _, function = test.partition("::")
        assert (HOUSE / path).is_file()
        assert not function or f"def {function.rpartition('::')[2].partition('[')[0]}(" in (HOUSE / path).read_text()


def test_a_mutation_does_not_survive() -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    killed = [name for name, each in MUTATIONS.items() if not each.survives]
    for name in random.Random(seed).sample(killed, SAMPLE):
        result = run(name)
        assert result.verdict is Verdict.KILLED, f"{name}: {result.message}"


@pytest.mark.parametrize(
    ("function", "verdict"),
    [
        ("test_a_file_with_nothing_in_it", Verdict.BROKEN),
        ("test_the_later_epoch_is_ahead_whatever_the_offsets", Verdict.SURVIVED),
    ],
)
def test_a_survivor_differs_from_tests_that_cannot_be_run(function: str, verdict: Verdict) -> None:
    name = next(name for name, each in MUTATIONS.items() if not each.survives)
    assert run(name, (f"tests/server/log/test_offset_and_epoch.py::{function}",)).verdict is verdict
