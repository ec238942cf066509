"""What a topic may be called."""

import pytest

from kafkadouble.server.metadata.topic_names import has_collision_chars, problem_with_name, unify_collision_chars


@pytest.mark.parametrize("name", ["a", "A-z_0.9", "x" * 249, "...", "-", "__consumer_offsets"])
def test_valid_topic_name_is_allowed(name: str) -> None:
    assert problem_with_name(name) is None


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "the empty string is not allowed"),
        (".", "'.' is not allowed"),
        ("..", "'..' is not allowed"),
        ("x" * 250, "is longer than the max allowed length 249"),
        ("a b", "contains one or more characters other than"),
        ("a\n", "contains one or more characters other than"),
        ("ü", "contains one or more characters other than"),
        ("٣", "contains one or more characters other than"),
        ("a/b", "contains one or more characters other than"),
        ("a:b", "contains one or more characters other than"),
    ],
)
def test_invalid_topic_name_is_refused(name: str, why: str) -> None:
    problem = problem_with_name(name)
    assert problem is not None
    assert problem.startswith("Topic name is invalid: ")
    assert why in problem


def test_the_length_counts_as_java_counts_it() -> None:
    name = "\U0001f600" * 125  # 250 UTF-16 units
    assert "longer than the max" in str(problem_with_name(name))


@pytest.mark.parametrize(("one", "other"), [("a.b", "a_b"), ("._.", "_._"), ("a.b_c", "a_b.c")])
def test_topic_names_with_dots_and_underscores_collide(one: str, other: str) -> None:
    assert has_collision_chars(one)
    assert has_collision_chars(other)
    assert unify_collision_chars(one) == unify_collision_chars(other)


def test_topic_names_with_other_characters_do_not_collide() -> None:
    assert not has_collision_chars("a-b")
    assert unify_collision_chars("a-b") != unify_collision_chars("a_b")
