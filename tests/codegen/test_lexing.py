"""The text of specifications: JSON with comments and nothing else."""

from __future__ import annotations

import pytest

from codegen.lexing import parse


def test_comments_in_a_spec_are_blank() -> None:
    text = '// head\n{ "a": 1, /* in\nside */ "b": [2, 3] // behind\n}\n// tail'
    assert parse(text) == {"a": 1, "b": [2, 3]}


def test_a_comment_inside_a_string_is_text() -> None:
    assert parse(r'{"about": "see https://x.y /* z */ \" // more"}') == {"about": 'see https://x.y /* z */ " // more'}


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1,}',
        "[1, 2,]",
        '{"a": 1} {"b": 2}',
        '{"a": 1} x',
        "{'a': 1}",
        '{"a": 1 /* open }',
        "",
        '{"a": NaN}',
        '{"a": 1 # no\n}',
    ],
)
def test_spec_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(text)


def test_a_key_may_come_once() -> None:
    with pytest.raises(ValueError, match="'name' appears twice"):
        parse('{"name": 1, "type": 2, "name": 3}')
