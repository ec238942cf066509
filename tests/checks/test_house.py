"""`python -m checks.house` reads imports, finds circles, and lets no figure grow."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import house
from checks.graphs import circles, graph_of, layers, upward
from checks.imports import House, Import, read


def written(folder: Path, files: dict[str, str]) -> House:
    for name, text in files.items():
        file = folder / "kafkadouble" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return read(folder)


def test_imports_at_the_top_inside_functions_and_for_types_are_told_apart(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        {
            "__init__.py": "",
            "a.py": "from typing import TYPE_CHECKING\nfrom . import b\nif TYPE_CHECKING:\n    from .c import C\n",
            "b.py": "def f():\n    import json\n    from kafkadouble.c import C\n",
            "c.py": "class C: pass\n",
            "room/__init__.py": "from ..a import b\n",
            "room/d.py": "from . import missing\nfrom .. import c as other\n",
        },
    )
    assert set(found.imports) == {
        Import("kafkadouble.a", "kafkadouble.b", 2),
        Import("kafkadouble.a", "kafkadouble.c", 4, for_types=True),
        Import("kafkadouble.b", "kafkadouble.c", 3, inside=True),
        Import("kafkadouble.room", "kafkadouble.a", 1),
        Import("kafkadouble.room.d", "kafkadouble.room", 1),
        Import("kafkadouble.room.d", "kafkadouble.c", 2),
    }
    assert found.statements == {"kafkadouble.b": 2}
    assert found.package_of("kafkadouble.room.d") == "kafkadouble.room" == found.package_of("kafkadouble.room")


def test_house_check_reads_every_floor_and_no_generated_file() -> None:
    modules = read().modules
    assert {"kafkadouble.double", "kafkadouble.wire.batch", "kafkadouble.server.node"} <= modules.keys()
    assert not any("generated" in name for name in modules)


@pytest.mark.parametrize(
    ("arrows", "found"),
    [
        ([("a", "b"), ("b", "c")], []),
        ([("a", "b"), ("b", "a"), ("b", "c")], [["a", "b"]]),
        ([("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("e", "d")], [["a", "b", "c"], ["d", "e"]]),
        ([("a", "a")], []),
    ],
)
def test_a_circle_is_what_reaches_itself_over_others(arrows: list[tuple[str, str]], found: list[list[str]]) -> None:
    assert circles(graph_of(arrows)) == found


def test_package_graph_has_few_upward_arrows() -> None:
    down = [("top", name) for name in "abc"] + [(name, "ground") for name in "abc"]
    assert upward(graph_of(down)) == []
    assert layers(graph_of(down)) == 3
    assert upward(graph_of([*down, ("ground", "top")])) == [("ground", "top")]
    assert layers(graph_of([*down, ("ground", "top")])) == 3


def test_house_check_reports_figures_that_grow_or_have_no_limit() -> None:
    figures = {"packages": 3, "upward arrows": 2, "modules at the root": 1}
    assert house.problems(figures, {"upward arrows": 2, "modules at the root": 1}) == []
    assert house.problems(figures, {"upward arrows": 1}) == [
        "upward arrows is 2, and was 1",
        "modules at the root has no limit in house.toml",
    ]


def test_a_circle_of_the_front_door_is_a_figure_of_its_own(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        {
            "__init__.py": "",
            "a.py": "from .b import x\n",
            "b.py": "def f():\n    from .a import y\n",
            "wire/__init__.py": "",
            "wire/c.py": "from ..a import z\n",
        },
    )
    figures = house.measured(found)
    assert figures["modules at the root"] == 2
    assert figures["modules in circles at run time: front door"] == 2
    assert figures["largest circle with types: wire"] == 0
    assert figures["imports inside functions: front door"] == 1
