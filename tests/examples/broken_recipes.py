"""For each recipe of `examples/recipes`, the mistake that it is about: a text of its program, and
the text that makes the program wrong."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

HOUSE = Path(__file__).resolve().parents[2]
RECIPES = HOUSE / "examples" / "recipes"


class Mistake(NamedTuple):
    """`right` is in the program once. With `wrong` in its place, `why` is what goes wrong."""

    right: str
    wrong: str
    why: str


MISTAKES = {
    "coordinator_moves": Mistake("if not failed.args[0].retriable():", "if True:", "a commit is not called again"),
    "dead_letter_topic": Mistake("if not errors or errors[0] is not None:", "if False:", "the error is not read"),
    "disk_full": Mistake('"acks": "all"', '"acks": 0', "no acknowledgement is awaited"),
    "expired_certificate": Mistake('"error_cb": self._note, ', "", "errors of the client are not read"),
    "lag_alarm": Mistake(
        "return end - max(committed, start)",
        "return end - committed if committed >= 0 else 0",
        "a partition without a commit does not count",
    ),
    "lost_answer": Mistake('"enable.idempotence": True', '"enable.idempotence": False', "it is appended twice"),
    "outage": Mistake("if error is None:", "if True:", "the delivery report is not read"),
    "poison_record": Mistake("except (ValueError, KeyError, TypeError):", "except KeyError:", "the program ends"),
    "rebalance_storm": Mistake(
        "        self.rebalances += 1\n        self._commit()\n",
        "        self.rebalances += 1\n",
        "what was handled is not committed before the rebalance",
    ),
    "recreated_topic": Mistake('"earliest"', '"latest"', "new records are skipped"),
    "slow_network": Mistake("if order not in self.states:", 'if self.states.get(order) != "sent":', "it is sent again"),
    "throttled_producer": Mistake("self.full += 1\n", "self.full += 1\n                return None\n", "it is dropped"),
    "unclean_leader": Mistake('"auto.offset.reset": "error"', '"auto.offset.reset": "earliest"', "it goes on"),
    "zombie": Mistake('f"billing-{shard}"', 'f"billing-{id(self)}"', "no worker fences another one"),
}


def recipes() -> list[str]:
    """The names of all recipes, in order."""
    return sorted(path.stem.removeprefix("test_") for path in RECIPES.glob("test_*.py"))


def broken(name: str) -> str:
    """The source of a recipe whose program makes the mistake. ValueError if the table is out of
    date."""
    mistake, source = MISTAKES[name], (RECIPES / f"test_{name}.py").read_text()
    if (found := source.count(mistake.right)) != 1:
        raise ValueError(f"{name} has {found} times, and not once: {mistake.right!r}")
    return source.replace(mistake.right, mistake.wrong)
