"""Work during which the garbage collector is paused."""

import gc
from collections.abc import Iterator

import pytest

from kafkadouble.server.requests import gc_pause
from kafkadouble.server.requests.gc_pause import MANY, all_kept


@pytest.fixture
def nothing_frozen() -> Iterator[None]:
    """Without what pytest's process froze before."""
    frozen = gc.get_freeze_count()
    gc.unfreeze()
    yield
    if frozen:
        gc.freeze()


def test_gc_pause_disables_the_collection_and_enables_it() -> None:
    assert gc.isenabled()
    with all_kept():
        assert not gc.isenabled()
    assert gc.isenabled()


@pytest.mark.usefixtures("nothing_frozen")
def test_objects_made_in_a_gc_pause_are_old_afterwards() -> None:
    before = gc.get_count()[0]
    with all_kept():
        made = [[number] for number in range(50_000)]
    assert gc.get_count()[0] < before + len(made)
    assert any(each is made for each in gc.get_objects(generation=2))


@pytest.mark.usefixtures("nothing_frozen")
def test_gc_pause_with_few_objects_leaves_them_young() -> None:
    with all_kept():
        made = [[number] for number in range(MANY // 10)]
    assert not any(each is made for each in gc.get_objects(generation=2))


@pytest.mark.usefixtures("nothing_frozen")
def test_gc_pause_leaves_frozen_objects_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with all_kept():
        made = [[number] for number in range(50_000)]
    assert made
    assert 0 < gc.get_freeze_count() <= frozen
    gc.unfreeze()


@pytest.mark.usefixtures("nothing_frozen")
def test_gc_pause_with_few_objects_counts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting takes as long as there are frozen objects: a server has a hundred thousand."""
    monkeypatch.delattr(gc, "get_freeze_count")
    with all_kept():
        pass


def test_gc_pause_ends_after_an_error() -> None:
    with pytest.raises(KeyError), all_kept():
        raise KeyError
    assert gc.isenabled()


def test_gc_pause_leaves_a_disabled_collection_disabled() -> None:
    gc.disable()
    try:
        with all_kept():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.usefixtures("nothing_frozen")
def test_a_process_says_what_is_done_about_many_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(gc_pause, "many_made", lambda: calls.append(1))
    with all_kept():
        few = [[number] for number in range(MANY // 10)]
    assert few
    assert not calls
    with all_kept():
        many = [[number] for number in range(50_000)]
    assert many
    assert calls == [1]
