"""Finds names of the product that nothing else in it mentions: `python -m checks.unused`.

A name that only tests use counts as unused. `KEPT` has those that programs, Spark or pytest use.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator

from .imports import PACKAGE, ROOT, modules_of

KEPT = {
    "src/kafkadouble/pytest_plugin/__init__.py": "pytest calls them by their names",
    "pipeline/spark/wire_source.py": "Spark calls them by their names",
    "pipeline/spark/wire_stream.py": "Spark calls them by their names",
    "src/kafkadouble/scenario/files/yaml_form.py": "PyYAML calls them by their names",
    "pipeline/streamed.py to_table": "of programs, in docs/kafka-log.md",
    "src/kafkadouble/scripted_double.py assert_complete": "of programs, in docs/scripted.md",
    "src/kafkadouble/seen/requests.py transcript": "of programs, in docs/requests.md",
    "wire/varint.py": "of programs: docs/import-paths.md has the package",
    "server/log/formats/names.py": "of programs: docs/import-paths.md has the package",
    "server/groups/streams/assignor/task_assignor.py": "a field of Kafka's class",
    "server/log/config.py": "read by their names, which the table of configurations has",
}
"""Files, or files with a name, and why what is in them stays."""

USERS = ("codegen/*.py", "helpers/generate/*.py", "messages/generated/*.py", "src/*.py")
"""What else uses names of the product."""

WORD = re.compile(r"\b[A-Za-z_]\w*\b")


def unused() -> list[str]:
    """`file name` of each name that is mentioned once, where it is defined."""
    files = {path.resolve() for _, path in modules_of(ROOT / "src" / PACKAGE)}
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files}
    mentions = Counter(word for text in texts.values() for word in WORD.findall(text))
    for path in (path for users in USERS for path in ROOT.glob(users)):
        mentions.update(WORD.findall(path.read_text("utf-8")))
    return sorted(
        f"{path} {name}"
        for path, text in texts.items()
        if path not in KEPT
        for name in _defined(ast.parse(text))
        if mentions[name] == 1 and not name.startswith("__") and f"{path} {name}" not in KEPT
    )


def _defined(tree: ast.Module) -> Iterator[str]:
    """The names at the top of a module, and those of the methods and fields of its classes."""
    for node in tree.body:
        yield from _names(node)
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                yield from _names(member) if not isinstance(member, ast.Assign) else ()


def _names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def main() -> int:
    found = unused()
    for each in found:
        print(f"nothing uses it: {each}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
