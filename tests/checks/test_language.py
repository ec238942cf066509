"""The language check: what counts as prose, and what breaks the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import language, prose

LONG = "word " * 22  # 110 columns
PERSON = "Nobody answers."


def texts(path: str, source: str, *allowed: str) -> list[str]:
    return [f"{each.line} {each.text.partition(' ')[0]}" for each in language.problems(path, source, allowed)]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (f'"""{PERSON}"""\n', [1]),
        (f'"""A head.\n\n{PERSON}\n"""\n', [3]),
        (f"a = 1  # {PERSON}\n", [1]),
        (f'class A:\n    """{PERSON}"""\n\n    b = 1\n    """{PERSON}"""\n', [2, 5]),
        (f'def a():  # short\n    r"""{PERSON}"""\n', [2]),
        (f'a = 1\n# above\n"""{PERSON}"""\n', [3]),
        (f'a = "{PERSON}"\nb(\n    "{PERSON}",\n)\n', [1, 3]),
        (f'def a(b):\n    raise ValueError(f"{{b}}: {PERSON}")\n', [2]),
        ('a("nobody", "him")\n', []),
        ("he = him = whom\n", []),
        (f"a = b  # type: ignore  # {PERSON}\n", []),
        ("# The field `he` is a name.\n", []),
        ("# The header, the heap and this history.\n", []),
    ],
)
def test_language_check_finds_persons_in_prose_and_texts(source: str, lines: list[int]) -> None:
    assert [each.line for each in language.problems("a.py", source)] == lines


@pytest.mark.parametrize(
    ("docstring", "problems"),
    [
        ("Return the offset.", ["1 a"]),
        ("Record that it failed.", ["1 a"]),
        ("Returns the offset.", []),
        ("Record batches from `start` on.", []),
        ("The offset.", []),
    ],
)
def test_language_check_finds_imperative_prose_of_functions(docstring: str, problems: list[str]) -> None:
    assert texts("a.py", f'def a(b: str = "",\n      c: int = 1) -> int:\n    """{docstring}"""\n') == [
        problem.replace("1 ", "3 ") for problem in problems
    ]
    assert texts("a.py", f'class A:\n    """{docstring}"""\n') == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("fetch_snapshot_of_unknown_partition_is_refused", ""),
        ("a_client_waits", ""),
        ("what_a_client_gets", "begins with 'what'"),
        ("it_works", "begins with 'it'"),
        ("refused_at_once", "holds no noun"),
    ],
)
def test_language_check_judges_names_of_tests(name: str, problem: str) -> None:
    source = f"import a\n\n\ndef test_{name}() -> None: ...\n"
    found = language.problems("tests/test_a.py", source)
    assert [line.line for line in found] == ([4] if problem else [])
    assert all(problem in line.text for line in found)
    assert not language.problems("server/a.py", source)


@pytest.mark.parametrize("word", ["nobody", "Somebody", "EVERYBODY", "whoever", "whom", "he", "He", "his", "him"])
def test_language_check_finds_words_for_persons_in_prose(word: str) -> None:
    assert texts("a.md", f"Here is {word} again.\n") == [f"1 {word!r}"]


@pytest.mark.parametrize(
    ("path", "source", "lines"),
    [
        ("a.py", f"# {LONG}\n", [1]),
        ("a.py", f'"""{LONG}\n\n    {LONG}\n"""\n', [1, 3]),
        ("a.py", f"{'a' * 90} = 1  # words behind it\n", [1]),
        ("a.py", f"a = '{LONG}'\n", []),
        ("a.py", f"# {'x' * 98}\n", []),
        ("a.py", f"    # https://{'x' * 100}\n", []),
        ("a.py", f"# {'word ' * 19}end\n", []),  # 100 columns
        ("a.py", f"# {'word ' * 19}ends\n", [1]),  # 101 columns
        ("a.md", f"{LONG}\n", [1]),
        ("a.md", f"- {LONG}\n", [1]),
        ("a.md", f"# {LONG}\n| {LONG} |\n", []),
        ("a.md", f"```\n{LONG}\n{PERSON}\n```\n{LONG}\n", [5]),
        ("a.md", f"~~~\n```\n{LONG}\n~~~\n{LONG}\n", [5]),
        ("a.md", f"[{'x' * 110}](https://x)\n", []),
    ],
)
def test_prose_wider_than_100_columns(path: str, source: str, lines: list[int]) -> None:
    assert [each.line for each in language.problems(path, source)] == lines


def test_allowed_phrase_of_a_file_is_no_problem_of_its_prose() -> None:
    assert texts("a.md", "The principal ANONYMOUS is nobody.\nSo is nobody.\n", "ANONYMOUS is nobody") == ["2 'nobody'"]


def made(root: Path, allowed: str = "", **sources: str) -> Path:
    for name, source in sources.items():
        (root / f"{name}.md").write_text(source)
    (root / "checks").mkdir()
    (root / language.ALLOWED).write_text(allowed)
    return root


def test_language_check_prints_every_problem_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = made(tmp_path, bad=PERSON, good="It is.")
    assert language.main(root) == 1
    assert capsys.readouterr().out.splitlines() == [
        "bad.md:1: 'Nobody' is a word for a person: name the process, or write 'it'"
    ]
    (root / "bad.md").write_text("No broker answers.")
    assert language.main(root) == 0


def test_allowed_phrase_that_a_file_lacks_is_an_error(tmp_path: Path) -> None:
    root = made(tmp_path, allowed="a.md: is nobody\n", a="ANONYMOUS is nobody.")
    assert language.main(root) == 0
    (root / "a.md").write_text("ANONYMOUS is a principal.")
    assert language.main(root) == 1


def test_folders_that_are_not_ours_and_links_are_left_out(tmp_path: Path) -> None:
    for folder in (".venv", "build", "generated", "ours"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.md").write_text(PERSON)
    (tmp_path / "link.md").symlink_to("ours/a.md")
    (tmp_path / "b.txt").write_text(PERSON)
    assert list(language.files(tmp_path)) == ["ours/a.md"]


@pytest.mark.parametrize("source", ['"""no end', "if a:\n        b\n    c\n"])
def test_a_file_that_is_no_python_is_a_problem(source: str) -> None:
    assert texts("a.py", f"{source}  # {LONG}\n") == ["0 not"]


def test_prose_keeps_the_number_of_its_line() -> None:
    found = list(prose.of_python('"""One.\n\nThree."""\n\na = 1  # five\n'))
    assert [(line.number, line.prose) for line in found] == [(1, '"""One.'), (2, ""), (3, 'Three."""'), (5, "# five")]
