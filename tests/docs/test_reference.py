"""docs/reference.md: docstrings say something of each parameter and each field, and each extra of
pyproject.toml has a row."""

from __future__ import annotations

import inspect
import re

import pytest

from kafkadouble import KafkaDouble
from tests.support.extras import NEEDED_FOR, installed
from tests.support.pages import ROOT
from tests.support.reference_page import VALUES, items

SOURCES = [path for tree in ("src/kafkadouble", "server", "pipeline", "wire") for path in (ROOT / tree).rglob("*.py")]


def test_each_parameter_is_described_in_the_order_of_the_signature() -> None:
    assert list(items(KafkaDouble)) == list(inspect.signature(KafkaDouble).parameters)


@pytest.mark.parametrize("cls", VALUES, ids=lambda cls: cls.__name__)
def test_each_field_is_described_in_its_order(cls: type) -> None:
    assert list(items(cls)) == list(inspect.get_annotations(cls))


def test_each_extra_has_a_row() -> None:
    assert sorted(NEEDED_FOR) == sorted(installed())


def test_extras_named_in_errors_are_extras_of_the_package() -> None:
    named = {name for path in SOURCES for name in re.findall(r"kafkadouble\[(\w+)\]", path.read_text())}
    assert named - set(installed()) == set()
    assert {"control", "columns", "security", "scenario", "telemetry"} <= named
