"""docs/clusters.md is true: its examples do what they say, its verbs and options exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.brokers.broker_handle import BrokerHandle
from kafkadouble.cli import serve

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "clusters.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_page_of_clusters_has_examples() -> None:
    assert len(EXAMPLES) == 6


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_example_runs(example: str) -> None:
    exec(compile(example, "clusters.md", "exec"), {"__name__": "page"})


def test_every_verb_of_a_broker_is_on_the_page_and_exists() -> None:
    on_page = set(re.findall(r"^\| `kafka\.brokers\[1\]\.(\w+)\([^)]*\)`", PAGE, re.MULTILINE))
    there = {name for name, each in vars(BrokerHandle).items() if callable(each) and not name.startswith("_")}
    assert on_page == there


def test_the_verbs_of_the_cluster_are_there() -> None:
    verbs = re.findall(r"^\| `kafka\.(\w+)\(", PAGE, re.MULTILINE)
    assert len(verbs) == len(set(verbs))
    assert {"down", "up", "add_broker", "remove_broker", "leader", "isr", "move_leader"} <= set(verbs)
    assert all(callable(getattr(KafkaDouble, verb)) for verb in verbs)


def test_the_options_are_there() -> None:
    assert "--brokers" in serve.parser().format_help()


@pytest.mark.parametrize("link", re.findall(r"\]\((?!http)([^)#]+)\)", PAGE))
def test_links_lead_somewhere(link: str) -> None:
    assert (ROOT / "docs" / link).exists()
