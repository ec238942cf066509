"""A class name has one meaning in the product.

Of the generated modules only the messages count: a struct inside of one is always named with its
message.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

HOUSE = Path(__file__).resolve().parent.parent
TREES = ("wire", "messages", "server", "pipeline", "src/kafkadouble", "codegen", "checks")


def public_classes(tree: ast.Module, nested: bool) -> Iterator[str]:
    for node in ast.walk(tree) if nested else tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def places(house: Path) -> dict[str, list[str]]:
    """Each public class name with the files that define it; links are not followed."""
    found: dict[str, list[str]] = defaultdict(list)
    for tree in TREES:
        for path in sorted((house / tree).rglob("*.py")):
            if not any(parent.is_symlink() for parent in path.parents):
                module = ast.parse(path.read_text(encoding="utf-8"))
                for name in public_classes(module, nested="generated" not in path.parts):
                    found[name].append(path.relative_to(house).as_posix())
    return found


def test_a_class_name_has_one_meaning() -> None:
    several = {name: files for name, files in places(HOUSE).items() if len(files) > 1}
    assert several == {}


def test_a_second_class_of_a_name_is_found(tmp_path: Path) -> None:
    for name, text in {"a": "class One: ...", "b": "class _One: ...\nclass Two:\n    class One: ..."}.items():
        (tmp_path / "wire").mkdir(exist_ok=True)
        (tmp_path / "wire" / f"{name}.py").write_text(text)
    assert places(tmp_path) == {"One": ["wire/a.py", "wire/b.py"], "Two": ["wire/b.py"]}
