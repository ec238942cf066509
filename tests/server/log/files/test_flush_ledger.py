"""The flush ledger alone: after any sequence of events it never reports as flushed what is not."""

from __future__ import annotations

from collections import Counter
from itertools import count
from random import Random

import pytest

from kafkadouble.server.log.files.flush_ledger import FlushLedger, FlushPlan

FOLDER, PARENT, METADATA = "t-0", "", "partition.metadata"
SEEDS, TOGETHER, STEPS = 1000, 100, 60


class FakeSegment:
    """A segment that holds some of the records; the number of each record is its own for ever."""

    def __init__(self, base_offset: int) -> None:
        self.base_offset, self.records, self.durable = base_offset, list[int](), False

    @property
    def next_offset(self) -> int:
        return self.base_offset + len(self.records)

    def __repr__(self) -> str:
        return f"{self.base_offset}..{self.next_offset}"


class Model:
    """A log on a disk that keeps what was flushed, beside the ledger. A plan flushes what was there
    when it was begun."""

    def __init__(self, random: Random) -> None:
        self.random, self.numbers = random, count(1)
        self.ledger = FlushLedger[FakeSegment](FOLDER, PARENT, [METADATA])
        self.segments = [FakeSegment(0)]
        # The newest version of each file and folder.
        self.contents = {METADATA: 0, FOLDER: 0, PARENT: 0}
        self.confirmed = dict[str, int]()  # the version of each that a confirmed flush covered
        self.durable = set[int]()  # records that are on the disk
        self.plan: FlushPlan[FakeSegment] | None = None
        self.at_begin: tuple[list[int], dict[str, int]] = [], {}
        self.urgent = True  # a file was written, or made, that no flush covered
        self.happened = Counter[str]()

    @property
    def end(self) -> int:
        return self.segments[-1].next_offset

    def append(self) -> None:
        self.segments[-1].records += [next(self.numbers) for _ in range(self.random.randint(1, 4))]

    def roll(self) -> None:
        if self.segments[-1].records:
            self.segments.append(FakeSegment(self.end))
            self.name_added()

    def name_added(self) -> None:
        self.contents[FOLDER], self.urgent = next(self.numbers), True
        self.ledger.name_added()

    def name_removed(self) -> None:
        self.contents[FOLDER] = next(self.numbers)
        self.ledger.name_removed()

    def write_file(self) -> None:
        name = self.random.choice([METADATA, "leader-epoch-checkpoint", "7.snapshot"])
        self.contents[name] = self.contents[FOLDER] = next(self.numbers)
        self.urgent = True
        self.ledger.file_written(name)

    def begin(self) -> None:
        dirty = [segment for segment in self.segments if not segment.durable]
        plan = self.ledger.begin(self.end, dirty)
        due = {name for name, version in self.contents.items() if self.confirmed.get(name, -1) < version}
        if plan is None:
            assert not self.urgent
            assert self.end <= self.ledger.recovery_point
            assert self.plan is None
            assert len(dirty) < 2
            return
        assert plan.end == self.end
        assert list(plan.segments) == dirty
        assert due <= {*plan.files, *plan.folders}
        assert not {FOLDER, PARENT} & set(plan.files)
        assert len({*plan.files, *plan.folders}) == len(plan.files) + len(plan.folders)
        self.urgent = False
        self.plan, self.at_begin = plan, ([r for s in dirty for r in s.records], dict(self.contents))
        self.happened["begun again" if self.plan else "begun"] += 1

    def run(self) -> None:
        """Runs the plan. It may fail anywhere; a plan that was done is confirmed, or its
        confirmation is lost."""
        if self.plan is None or self.random.random() < 0.2:
            return
        records = self.at_begin[0]
        if self.random.random() < 0.3:
            self.durable |= set(records[: self.random.randrange(len(records) + 1)])
            self.happened["failed"] += 1
        else:
            self.durable |= set(records)
            for name in (*self.plan.files, *self.plan.folders):
                self.confirmed[name] = self.at_begin[1][name]
            self.ledger.confirm(self.plan.end)
            self.plan = None
            self.happened["confirmed"] += 1

    def confirm_nothing(self) -> None:
        """As after a flush that had nothing to do."""
        if self.plan is None:
            self.ledger.confirm(self.end)

    def truncate(self) -> None:
        offset = self.random.randint(self.segments[0].base_offset, self.end)
        while len(self.segments) > 1 and self.segments[-1].base_offset > offset:
            self.segments.pop()
            self.name_removed()
        active = self.segments[-1]
        del active.records[offset - active.base_offset :]
        active.durable = False
        self.durable &= {record for segment in self.segments for record in segment.records}
        self.ledger.cut(offset)
        self.happened["cut under way" if self.plan else "cut"] += 1

    def restart(self) -> None:
        offset = self.random.choice([0, self.end, self.end + 5])
        self.segments, self.durable = [FakeSegment(offset)], set()
        self.name_added()
        self.ledger.restart(offset)

    def check(self) -> None:
        """What the ledger says is flushed is on the disk."""
        flushed = self.ledger.recovery_point
        assert flushed <= self.end
        for segment in self.segments:
            below = segment.records[: max(0, flushed - segment.base_offset)]
            assert self.durable.issuperset(segment.records if segment.durable else below)
        assert not self.segments[-1].durable

    def play(self) -> Counter[str]:
        steps = [self.append, self.roll, self.name_removed, self.write_file, self.truncate, self.restart]
        steps += [self.begin, self.run, self.confirm_nothing]
        for step in self.random.choices(steps, [8, 3, 1, 1, 2, 0.3, 6, 6, 1], k=STEPS):
            step()
            self.check()
        return self.happened


@pytest.mark.parametrize("first", range(0, SEEDS, TOGETHER))
def test_only_flushed_bytes_count_as_flushed_and_the_others_stay_due(first: int) -> None:
    happened = sum((Model(Random(seed)).play() for seed in range(first, first + TOGETHER)), start=Counter[str]())
    assert all(happened[each] > 0 for each in ("confirmed", "failed", "begun again", "cut", "cut under way"))


def begun(ledger: FlushLedger[FakeSegment], end: int, *dirty: FakeSegment) -> FlushPlan[FakeSegment]:
    plan = ledger.begin(end, dirty)
    assert plan is not None
    return plan


def flushed_up_to(end: int) -> FlushLedger[FakeSegment]:
    ledger = FlushLedger[FakeSegment](FOLDER, PARENT, [])
    ledger.assume_flushed()
    ledger.recovery_point = end
    return ledger


def test_the_first_flush_covers_the_folder_and_the_one_that_has_its_name() -> None:
    ledger = FlushLedger[FakeSegment](FOLDER, PARENT, [METADATA])
    plan = begun(ledger, 3, FakeSegment(0))
    assert (plan.files, plan.folders) == ((METADATA,), (FOLDER, PARENT))
    ledger.confirm(3)
    assert begun(ledger, 4, FakeSegment(0)).folders == ()


def test_an_empty_new_log_is_not_flushed_and_its_folders_stay_due() -> None:
    ledger = FlushLedger[FakeSegment](FOLDER, PARENT, [METADATA])
    ledger.is_new = True
    assert ledger.begin(0, [FakeSegment(0)]) is None
    ledger.confirm(0)
    assert begun(ledger, 1, FakeSegment(0)).folders == (FOLDER, PARENT)


def test_a_removed_name_waits_for_the_next_flush_and_an_added_one_calls_for_it() -> None:
    ledger, active = flushed_up_to(3), FakeSegment(0)
    ledger.name_removed()
    assert ledger.begin(3, [active]) is None
    ledger.name_added()
    assert begun(ledger, 3, active).folders == (FOLDER,)


def test_file_removed_during_a_flush_is_due_after_it() -> None:
    ledger, active = flushed_up_to(3), FakeSegment(0)
    begun(ledger, 4, active)
    ledger.name_removed()
    ledger.confirm(4)
    assert begun(ledger, 5, active).folders == (FOLDER,)


def test_a_file_that_is_written_during_a_flush_is_due_after_it() -> None:
    ledger, active = flushed_up_to(3), FakeSegment(0)
    ledger.file_written("7.snapshot")
    begun(ledger, 3, active)
    ledger.file_written("7.snapshot")
    ledger.confirm(3)
    assert begun(ledger, 3, active).files == ("7.snapshot",)


def test_a_cut_bounds_what_the_flush_under_way_confirms() -> None:
    """From 2 on there are other batches now than those that it flushed."""
    ledger, closed, active = flushed_up_to(1), FakeSegment(0), FakeSegment(4)
    begun(ledger, 6, closed, active)
    ledger.cut(2)
    ledger.confirm(6)
    assert (ledger.recovery_point, closed.durable) == (2, False)
    begun(ledger, 7, closed, active)
    ledger.confirm(7)
    assert (ledger.recovery_point, closed.durable, active.durable) == (7, True, False)


def test_a_restart_leaves_nothing_to_flush_below_it() -> None:
    ledger, active = flushed_up_to(3), FakeSegment(100)
    begun(ledger, 6, active)
    ledger.restart(100)
    assert ledger.recovery_point == 100
    ledger.confirm(6)
    assert ledger.recovery_point == 100


def test_older_flush_confirms_nothing() -> None:
    ledger, active = flushed_up_to(3), FakeSegment(0)
    begun(ledger, 5, active)
    begun(ledger, 8, active)
    ledger.confirm(5)
    assert ledger.recovery_point == 3
    ledger.confirm(8)
    assert ledger.recovery_point == 8


def test_a_log_is_new_until_its_first_flush_begins() -> None:
    ledger = FlushLedger[FakeSegment](FOLDER, PARENT, [METADATA])
    ledger.is_new = True
    assert ledger.begin(0, [FakeSegment(0)]) is None
    assert ledger.is_new
    begun(ledger, 1, FakeSegment(0))
    assert not ledger.is_new


@pytest.mark.parametrize("again", [3, 9])
def test_unconfirmed_flush_is_due_again(again: int) -> None:
    ledger, closed, active = flushed_up_to(3), FakeSegment(0), FakeSegment(3)
    ledger.file_written("3.snapshot")
    begun(ledger, 3, closed, active)
    ledger.file_written("leader-epoch-checkpoint")
    plan = begun(ledger, again, closed, active)
    assert plan == (again, (closed, active), ("3.snapshot", "leader-epoch-checkpoint"), (FOLDER,))
    ledger.confirm(again)
    assert ledger.begin(again, [active]) is None


def test_flush_ledger_has_a_repr() -> None:
    ledger = flushed_up_to(3)
    assert repr(ledger) == "flushed up to 3, no flush due"
    ledger.name_added()
    assert repr(ledger) == "flushed up to 3, a flush due"
    begun(ledger, 4, FakeSegment(0))
    assert repr(ledger) == "flushed up to 3, a flush under way"
