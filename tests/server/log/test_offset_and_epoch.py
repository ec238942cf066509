from kafkadouble.server.log.offset_and_epoch import UNDEFINED, OffsetAndEpoch


def test_the_later_epoch_is_ahead_whatever_the_offsets() -> None:
    assert OffsetAndEpoch(3, 2) > OffsetAndEpoch(500, 1)
    assert OffsetAndEpoch(4, 2) > OffsetAndEpoch(3, 2)
    assert OffsetAndEpoch(4, 2) >= OffsetAndEpoch(4, 2)
    assert min(OffsetAndEpoch(1, 3), OffsetAndEpoch(9, 1), OffsetAndEpoch(2, 1)) == OffsetAndEpoch(2, 1)


def test_undefined_offset_and_epoch_is_before_every_other() -> None:
    assert OffsetAndEpoch(0, 0) > UNDEFINED
    assert repr(OffsetAndEpoch(5, 2)) == "offset 5 of epoch 2"
