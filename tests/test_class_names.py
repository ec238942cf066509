"""A class name has one meaning in the product.

Of the generated modules only the messages count: a struct inside of one is always named with its
message.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

HOUSE = Path(__file__).resolve().parent.parent
TREES = ("wire", "messages", "server", "pipeline", "src/kafkadouble", "codegen", "checks")


AT_TOP = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)
"""A public class at the top of a generated module, found without parsing."""


def public_classes(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def places(house: Path) -> dict[str, list[str]]:
    """Each public class name with the files that define it; links are not followed."""
    found: dict[str, list[str]] = defaultdict(list)
    for tree in TREES:
        for path in sorted((house / tree).rglob("*.py")):
            if not any(parent.is_symlink() for parent in path.parents):
                text = path.read_text(encoding="utf-8")
                for name in AT_TOP.findall(text) if "generated" in path.parts else public_classes(ast.parse(text)):
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
