"""The recipes: each passes with the program that it shows, and fails with the mistake that it is
about."""

from __future__ import annotations

import pytest

from tests.support.pages import run_suite

from .broken_recipes import MISTAKES, RECIPES, broken, recipes

pytest.importorskip("confluent_kafka")

pytest_plugins = ["pytester"]
QUIET = ("-p", "no:cacheprovider", "-W", "error", "--tb=line")


def test_each_recipe_passes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(**{path.stem: path.read_text() for path in RECIPES.glob("test_*.py")})
    run_suite(pytester, *QUIET).assert_outcomes(passed=len(recipes()))


def test_each_recipe_has_a_mistake() -> None:
    assert sorted(MISTAKES) == recipes()


def test_each_recipe_fails_if_its_program_makes_the_mistake(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(**{f"test_{name}": broken(name) for name in MISTAKES})
    run_suite(pytester, *QUIET).assert_outcomes(failed=len(MISTAKES))
