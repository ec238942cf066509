"""Breaks one rule of the product after the other, and says whether its tests notice.

    python -m tests.mutations                  all of them: some minutes
    python -m tests.mutations snapshot lag     those whose names have these words

The exit code is 1 when one survives without a written reason, or is killed in spite of one.
"""

from __future__ import annotations

import sys

from .running import run, unbroken
from .table import MUTATIONS


def main(words: list[str]) -> int:
    chosen = {name: each for name, each in MUTATIONS.items() if all(word in name for word in words)}
    if not unbroken(tuple(sorted({test for each in chosen.values() for test in each.tests}))):
        print("the tests do not pass as it is: nothing follows from what they say of a mutation")
        return 1
    surprises = 0
    for name, mutation in chosen.items():
        result = run(name)
        surprises += not result.is_as_stated(mutation)
        reason = f" (as stated: {mutation.survives})" if mutation.survives else ""
        print(f"{result.verdict.value:8}  {name}{reason}: {result.message}"[:240], flush=True)
    print(f"{len(chosen)} mutations, {surprises} not as the table says")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
