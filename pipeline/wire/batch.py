"""Plans a batch query: both bounds become offsets once."""

from __future__ import annotations

from kafkadouble.wire.errors import UsageError

from . import bounds, losses
from .offsets import Positions
from .options import BATCH, QueryOptions
from .planning import OffsetRange
from .task import ReadTask, divided
from .watch import Watch


def plan(watch: Watch, settings: QueryOptions) -> list[ReadTask]:
    """The tasks. Raises UsageError when the options cannot be met, DataLoss when records that they
    name are gone."""
    start, end = bounds.starting(settings, BATCH), bounds.ending(settings)
    bounds.check(start, end)
    partitions = watch.partitions()
    first, last = watch.resolved(start, partitions), watch.resolved(end, partitions)
    for tp in partitions:
        if first[tp] > last[tp]:
            raise UsageError(
                f"{start.option} begins {tp} at {first[tp]}, which is behind {last[tp]}, where {end.option} ends it"
            )
    now = watch.now(Positions(first), partitions)
    start_losses = losses.of_positions(Positions(first), now)
    ends = losses.of_ends(last, now)
    losses.report(start_losses + ends, settings["failOnDataLoss"])
    first |= {loss.tp: loss.start for loss in start_losses if loss.start is not None}
    last |= {loss.tp: loss.start for loss in ends if loss.start is not None}
    return divided([OffsetRange(tp, first[tp], last[tp]) for tp in partitions], settings, {}, now.leaders)
