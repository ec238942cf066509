"""Java's properties files."""

import pytest

from kafkadouble.server.configs.properties import parse_properties
from kafkadouble.wire.errors import UsageError


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("\n# a=b\n  ! c=d\n\n", []),
        ("a=b", [(1, "a", "b")]),
        ("  a : b \n", [(1, "a", "b ")]),
        ("a b=c", [(1, "a", "b=c")]),
        ("a\t=\f:b", [(1, "a", ":b")]),
        ("a", [(1, "a", "")]),
        ("a=", [(1, "a", "")]),
        ("=b", [(1, "", "b")]),
        ("a\\=b\\:c\\ d=e", [(1, "a=b:c d", "e")]),
        ("a=b\\\n    c\\\n  # no comment\nd=e", [(1, "a", "bc# no comment"), (4, "d", "e")]),
        ("a=b\\\\\nc=d", [(1, "a", "b\\"), (2, "c", "d")]),
        ("a=b\r\nc=d\re=f", [(1, "a", "b"), (2, "c", "d"), (3, "e", "f")]),
        ("a=\\t\\n\\r\\f\\q\\\\", [(1, "a", "\t\n\r\fq\\")]),
        ("a=\\u0041\\u00e9", [(1, "a", "Aé")]),
        ("a=\\uD83D\\uDE00", [(1, "a", "\U0001f600")]),
        ("a=\\uD83D", [(1, "a", "\ufffd")]),
        ("a=1\na=2", [(1, "a", "1"), (2, "a", "2")]),
        ("a=\\", [(1, "a", "")]),
        ("a=\x85\u2028b", [(1, "a", "\x85\u2028b")]),
        ("\\\n# comment\na=b", [(3, "a", "b")]),
    ],
)
def test_properties_file_is_read(text: str, found: list[tuple[int, str, str]]) -> None:
    assert parse_properties(text) == found


@pytest.mark.parametrize("text", ["a=\\u12", "a=\\u12g4", "\\u+123=b", "a=\\u 123"])
def test_an_unfinished_character_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(UsageError, match=r"server.properties line 3: .*hexadecimal"):
        parse_properties("# first\n\n" + text, "server.properties")
