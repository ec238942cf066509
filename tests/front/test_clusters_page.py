"""docs/clusters.md is true: its verbs and options exist. `tests/docs/test_examples.py` runs its
examples."""

from __future__ import annotations

import re
from pathlib import Path

from kafkadouble import KafkaDouble
from kafkadouble.brokers.broker_handle import BrokerHandle
from kafkadouble.cli import serve

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "clusters.md").read_text()


def test_every_verb_of_a_broker_is_on_the_page_and_exists() -> None:
    on_page = set(re.findall(r"^\| `kafka\.brokers\[1\]\.(\w+)\([^)]*\)`", PAGE, re.MULTILINE))
    there = {name for name, var in vars(BrokerHandle).items() if callable(var) and not name.startswith("_")}
    assert on_page == there


def test_the_verbs_of_the_cluster_are_there() -> None:
    verbs = re.findall(r"^\| `kafka\.(\w+)\(", PAGE, re.MULTILINE)
    assert len(verbs) == len(set(verbs))
    assert {"down", "up", "add_broker", "remove_broker", "leader", "isr", "move_leader"} <= set(verbs)
    assert all(callable(getattr(KafkaDouble, verb)) for verb in verbs)


def test_the_options_are_there() -> None:
    assert "--brokers" in serve.parser().format_help()
