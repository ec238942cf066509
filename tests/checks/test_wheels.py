"""The check of wheels reads pyproject.toml, and says which combination lacks a wheel."""

from __future__ import annotations

import tomllib

import pytest

from checks.wheels import PLATFORMS, ROOT, Project, missing, project


def test_the_pythons_of_the_classifiers_and_the_requirements_of_the_extras_are_read() -> None:
    promised = project(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    assert {"3.11", "3.14"} <= set(promised.pythons)
    names = " ".join(promised.requirements)
    assert all(name in names for name in ("crc32c", "starlette", "pyarrow", "cryptography", "PyYAML"))


def test_a_combination_without_a_wheel_is_named_with_pips_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # no package index: nothing has a wheel
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    found = list(missing(Project(["3.14"], ["no-such-project-anywhere"]), {"Windows": PLATFORMS["Windows"]}))
    assert [(each.python, each.platform) for each in found] == [("3.14", "Windows")]
    assert "no-such-project-anywhere" in found[0].reason
