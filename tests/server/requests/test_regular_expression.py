"""Regular expressions of clients match as Kafka's RE2/J, and no pattern is expensive."""

import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kafkadouble.server.requests.regular_expression import InvalidRegularExpression, compile_pattern
from tests.server.configs.witness import Witness, missing

MATCHES = [
    ("orders-.*", "orders-1", "my-orders-1"),
    ("orders", "orders", "orders-1"),
    ("a|ab", "ab", "abb"),
    ("(?P<one>a)(?<two>b)(c)", "abc", "ab"),
    (".", "😀", "\n"),
    ("(?i)straße-é", "STRAßE-É", "STRASSE-É"),
    (r"\Qa.b\E+", "a.bb", "axb"),
    (r"\Q\C{*[(?<é", r"\C{*[(?<é", ""),
    (r"\é\.[\é-\ü]", "é.ö", r"\é.ö"),
    (r"[[:alpha:]\]{*]+", "a]{*", ":"),
    (r"\p{Greek}\PL", "σ1", "σσ"),
    ("a{,2}{", "a{,2}{", "aa"),
    ("$^", "", "a"),
    (".{1000}", "a" * 1000, "a" * 999),
]
"""Pattern, a text that it matches, and one that it does not match."""

INVALID = [
    *("(", ")", "[", "[]", "[^]", "[b-a]", "[[:foo:]]", r"[\C]", "*", "a**", "a{2}{3}", "a{1001}", "a{2,1}"),
    *("a{99999999999}", "{*", "{{2}", r"\C", r"\1", r"\8", r"\q", r"\Z", r"\p{Foo}", "\\", "(?=a)", "(?!a)", "(?<=a)"),
    *("(?P<n>a)(?P<n>b)", "(?P<n>a)(?<n>b)", "(?<é>a)", "(?P<>a)", "(?P<n", "(?z)"),
]

TOO_LARGE = ["((a{1000}){1000}){1000}", "(a{1000}){1000}", r"\pL{100}", "(?:.{1000}){50}"]
"""RE2/J has no bound: it accepts the second and the last two, and the first takes all memory."""

HOSTILE = ["(x+x+)+y", "(x*)*y", "((((.*)*)*)*)*y", "(x|x)*y", "(x?){1000}x{1000}y", "|".join(["(x*)"] * 2000) + "y"]
"""Patterns for which a matcher that backtracks takes exponential time."""


@pytest.mark.parametrize(("pattern", "text", "other"), MATCHES)
def test_a_pattern_matches_whole_texts(pattern: str, text: str, other: str) -> None:
    compiled = compile_pattern(pattern)
    assert (compiled.matches(text), compiled.matches(other)) == (True, False)


@pytest.mark.parametrize("pattern", INVALID + TOO_LARGE)
def test_an_invalid_pattern_is_refused_with_a_reason(pattern: str) -> None:
    with pytest.raises(InvalidRegularExpression, match=r"\w+"):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", HOSTILE)
def test_no_pattern_takes_exponential_time(pattern: str) -> None:
    assert not compile_pattern(pattern).matches("x" * 3000 + "z")


@pytest.mark.parametrize("part", ["[", "[^", "[[:", "(?<", "(?P<a", "(", "{", "{1,", "\\Q", "\\é", "[\\", "\\p{"])
def test_a_long_pattern_is_read_in_linear_time(part: str) -> None:
    """With a quadratic reading, some of these would take minutes: they are 20 times as long as any
    string of the protocol."""
    pattern = part * (20 * 32767 // len(part))
    with suppress(InvalidRegularExpression):
        assert not compile_pattern(pattern).matches("")


def test_the_library_keeps_no_pattern() -> None:
    import re2

    compile_pattern("orders-.*")
    assert re2._Regexp._make.cache_info().currsize == 0


ATOM_LINES = r"""
a b c x - _ . 0 7 K k ſ s S é É ß ẞ Σ σ ς İ ı 中 😀 \n \t \. \- \_ \d \D \w \W \s \S \b \B \A \z \Z \C \pL \PL \p{Greek} \p{^Greek}
\P{Lu} \pN \p{Han} \p{Foo} \p{Any} \p{Zl} \x41 \x{1F600} \x{110000} \101 \1 \8 \0 \Qa.b\E \Q*\E \Q \E \a \f \v \h \R \X \K \q \e \é
[abc] [^abc] [a-c] [c-a] [a-] [-a] []a] [^]a] [\d_] [^\d] [[:alpha:]] [[:^alpha:]] [[:word:]] [[:foo:]] [[:alpha] [\pL] [a&&b] []
[^\n] [\b] [\Q] [\é] [\C] [\]] [[] [a\-z] ^ $ (a) (?:ab) (?i:k) (?i) (?-i) (?s:.) (?m:^a$) (?U:a*) (?P<n>a) (?<n>a) (?<é>a) (?P<>a)
(?'n'a) (?=a) (?!a) (?<=a) (?>a) (?#c) () (?:) ( ) | [ ] { } * + ? ** a*? a+? a*+ a{2} a{2}{3} a{0} a{1,2} a{,2} a{2,} a{2,1} a{01}
a{1000} a{1001} a{2}? a{2}+ a{-1} a{12345} a{1,99999999999} \\ \
"""
ATOMS = ATOM_LINES.split()
CHARACTERS = "ab.*+?|()[]{}^$\\-,:012iPsQECdwzpLné<>=!'"
TEXT_LINES = r"""
a b ab abc aa aaa aaaaaa A k K K s S ſ - _ . é É ß ẞ Σ σ ς i I İ ı 中 😀 1 ٣ 0 { a{,2} aa{,2} a{01} x x-1 my.topic a.b * ] -a A1 ab_9 \
"""
TEXTS = [*TEXT_LINES.split(), "", " ", "\n", "a\n", "\na", "a\nb", "\t", "\u00a0", "\u2028", "\x07", "\x0b"]
SEEDS = range(2)


def patterns(seed: int) -> list[str]:
    chance = random.Random(seed)
    of_atoms = ["".join(chance.choices(ATOMS, k=chance.randint(2, 5))) for _ in range(1500)]
    of_characters = ["".join(chance.choices(CHARACTERS, k=chance.randint(1, 10))) for _ in range(1500)]
    return ATOMS + of_atoms + of_characters


@pytest.fixture(scope="module")
def re2j() -> Iterator[Witness]:
    """The matcher of Kafka 4.4.0, to compare with."""
    lack = missing()
    if lack:
        pytest.skip(f"NOT COMPARED WITH RE2/J: {lack}. What is committed was last compared with that of Kafka 4.4.0.")
    witness = Witness(Path(__file__).with_name("RegularExpressionWitness.java"))
    yield witness
    witness.close()


def ours(pattern: str) -> list[bool] | None:
    """Which of TEXTS it matches; None if it is invalid."""
    try:
        compiled = compile_pattern(pattern)
    except InvalidRegularExpression:
        return None
    return [compiled.matches(text) for text in TEXTS]


@pytest.mark.parametrize("seed", SEEDS)
def test_patterns_match_as_with_re2j(re2j: Witness, seed: int) -> None:
    requested = [*INVALID, *(row[0] for row in MATCHES), *patterns(seed)]
    answers: list[Any] = re2j.ask_all({"pattern": pattern, "texts": TEXTS} for pattern in requested)
    differ = [
        (pattern, ours(pattern), answer)
        for pattern, answer in zip(requested, answers, strict=True)
        if ours(pattern) != answer.get("matches")
    ]
    assert not differ
