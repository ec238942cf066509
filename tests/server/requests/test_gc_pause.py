"""Work during which the garbage collector is paused."""

import gc

import pytest

from kafkadouble.server.requests.gc_pause import all_kept


def test_the_collector_rests_and_goes_on() -> None:
    assert gc.isenabled()
    with all_kept():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_was_made_is_old_afterwards() -> None:
    before = gc.get_count()[0]
    with all_kept():
        made = [[number] for number in range(50_000)]
    assert gc.get_count()[0] < before + len(made)
    assert any(each is made for each in gc.get_objects(generation=2))


def test_objects_frozen_before_stay_frozen() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with all_kept():
            pass
        assert 0 < gc.get_freeze_count() <= frozen
    finally:
        gc.unfreeze()


def test_it_goes_on_after_an_error() -> None:
    with pytest.raises(KeyError), all_kept():
        raise KeyError
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with all_kept():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
