"""`python -m checks.lines` counts what was written by hand."""

from __future__ import annotations

import subprocess
from pathlib import Path

from checks.lines import Count, counted


def test_generated_files_links_and_other_kinds_do_not_count(tmp_path: Path) -> None:
    files = {
        ".gitattributes": "made.py linguist-generated=true\n",
        "made.py": "a = 1\n",
        "wire/one.py": "def f():\n    return 1\n",
        "server/two.py": "a = 1\n\n# why\n",
        "helpers/three.js": "f();\ng();\n",
        "tests/script.txt": "> Fetch\n",
        "docs/page.md": "# A page\n",
        "docs/list.txt": "a\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "link.py").symlink_to("made.py")
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    assert counted(tmp_path) == {"helpers": Count(2, 0), "product": Count(5, 3), "tests": Count(1, 0)}
