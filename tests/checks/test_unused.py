"""`python -m checks.unused` finds names that nothing in the product uses."""

from __future__ import annotations

import ast

from checks import unused
from checks.imports import ROOT


def test_product_modules_have_no_unused_name() -> None:
    assert unused.unused() == []


def test_kept_names_exist_in_their_modules() -> None:
    for each in unused.KEPT:
        path, _, name = each.partition(" ")
        assert name in (ROOT / path).read_text("utf-8"), each


def test_functions_classes_methods_fields_and_constants_are_names() -> None:
    tree = ast.parse(
        "A, B = 1, 2\nC: int = 3\ndef f(): d = 1\nclass K:\n  x: int\n  Y = 2\n  async def m(self): pass\n"
    )
    assert [*unused._defined(tree)] == ["A", "B", "C", "f", "K", "x", "m"]
