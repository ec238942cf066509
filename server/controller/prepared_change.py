"""A change of the metadata that is ready to be appended: its records, also as bytes, and the image
after them. It is prepared in slices, and appended in one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkadouble.messages.message import Message

from ..metadata.features import METADATA_VERSION
from ..metadata.image import Image
from ..metadata.metadata_log import values_of
from ..metadata.record_versions import batch_level, records_at_level
from ..metadata.replay import MetadataDelta
from ..requests.waiting import OTHERS_FIRST, SLICE, Wait


class PreparedChange(NamedTuple):
    """`after` is the image after the records, with the end of the image before them."""

    after: Image
    records: Sequence[Message]
    values: Sequence[bytes]


def prepared(before: Image, requested: Sequence[Message]) -> Wait[PreparedChange]:
    """The change of `before`, without records that its metadata.version does not have."""
    level = batch_level(requested, before.features.get(METADATA_VERSION))
    delta, records, values = MetadataDelta(before), list[Message](), list[bytes]()
    for start in range(0, len(requested), SLICE):
        if start:
            yield OTHERS_FIRST
        part = records_at_level(requested[start : start + SLICE], level)
        for record in part:
            delta.replay(record)
        records += part
        values += values_of(part, level)
    return PreparedChange(delta.image, records, values)
