"""Measures the structure of the house: `python -m checks.house`.

A package is a folder with Python files, and an arrow is a package that imports another; imports for
types count. Layers are the longest path when the fewest arrows point upward. It fails if a figure
is larger than `house.toml` has it: write down a smaller one when the house has become better.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from .graphs import circles, graph_of, layers, upward
from .imports import PACKAGE, House, read

LIMITS = Path(__file__).with_name("house.toml")
FLOORS = ("wire", "messages", "server", "pipeline")
FRONT = "front door"
ON_FIRST_USE = " = OnFirstUse("


def floor_of(module: str) -> str:
    """The floor of a module, or the front door."""
    name = module.split(".")[1] if "." in module else ""
    return name if name in FLOORS else FRONT


def measured(house: House) -> dict[str, int]:
    """The figures, by their names in `house.toml`."""
    arrows = {(house.package_of(each.importer), house.package_of(each.imported)) for each in house.imports}
    packages = graph_of(arrow for arrow in arrows if arrow[0] != arrow[1])
    found = {
        "packages": len({house.package_of(name) for name in house.modules}),
        "layers": layers(packages),
        "arrows": sum(map(len, packages.values())),
        "upward arrows": len(upward(packages)),
        "modules at the root": sum(
            1 for name in house.modules if house.package_of(name) == PACKAGE and name != PACKAGE
        ),
        "modules in the largest folder of the front door": max(_folders(house).values()),
    }
    return found | _inside(house) | _circles(house)


def _folders(house: House) -> Counter[str]:
    of_front = (name for name in house.modules if floor_of(name) == FRONT)
    return Counter(house.package_of(name) for name in of_front if house.package_of(name) != name)


def _inside(house: House) -> dict[str, int]:
    found = Counter[str]()
    for module, statements in house.statements.items():
        found[floor_of(module)] += statements
    inside = {f"imports inside functions: {floor}": found[floor] for floor in (FRONT, *FLOORS)}
    return inside | {
        "modules on first use": sum(file.read_text("utf-8").count(ON_FIRST_USE) for file in house.modules.values())
    }


def circles_of(house: House, floor: str, *, with_types: bool) -> list[list[str]]:
    """The modules of a floor that import one another in a circle, the largest circle first."""
    own = (each for each in house.imports if floor_of(each.importer) == floor == floor_of(each.imported))
    return circles(graph_of((each.importer, each.imported) for each in own if with_types or not each.for_types))


def _circles(house: House) -> dict[str, int]:
    """The modules in circles and in the largest one of each floor, at run time and with types."""
    found = {}
    for floor in (FRONT, *FLOORS):
        for kind, with_types in (("at run time", False), ("with types", True)):
            sizes = [len(circle) for circle in circles_of(house, floor, with_types=with_types)]
            found[f"modules in circles {kind}: {floor}"] = sum(sizes)
            found[f"largest circle {kind}: {floor}"] = max(sizes, default=0)
    return found


def problems(figures: Mapping[str, int], limits: Mapping[str, int]) -> list[str]:
    """What has grown, and what is not written down."""
    found = [f"{name} is {figures[name]}, and was {most}" for name, most in limits.items() if figures[name] > most]
    return found + [
        f"{name} has no limit in {LIMITS.name}" for name in figures if name not in limits and _may_not_grow(name)
    ]


def _may_not_grow(name: str) -> bool:
    return name not in ("packages", "layers", "arrows")


def main() -> int:
    house = read()
    figures, limits = measured(house), tomllib.loads(LIMITS.read_text("utf-8"))["most"]
    for name, figure in figures.items():
        print(f"{figure:5d}  {name}")
    for floor in (FRONT, *FLOORS):
        for circle in circles_of(house, floor, with_types=True):
            print(f"{len(circle):5d}  in a circle: {' '.join(circle)}")
    found = problems(figures, limits)
    for problem in found:
        print(f"{LIMITS.name}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
