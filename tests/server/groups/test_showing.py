"""DescribeGroups and ListGroups: what is shown of groups."""

from __future__ import annotations

from tests.server.groups.asking import commit, listed
from tests.server.groups.bench import Bench, Member, gather, stabilise


def test_every_group_is_listed_with_state_and_type() -> None:
    bench = Bench(offsets_partitions=7)
    bench.create_topic("t")
    commit(bench, {"t": {0: 1}}, "simple")
    stabilise(Member(bench, group="stable"))
    gather(Member(bench, group="completing", protocol_type="connect"))
    Member(bench, group="preparing").join()
    found = {name: (each.protocol_type, each.group_state, each.group_type) for name, each in listed(bench).items()}
    assert found == {
        "simple": ("", "Empty", "classic"),
        "stable": ("consumer", "Stable", "classic"),
        "completing": ("connect", "CompletingRebalance", "classic"),
        "preparing": ("consumer", "PreparingRebalance", "classic"),
    }
    for states, names in (
        (["Stable"], {"stable"}),
        (["stable", " EMPTY "], {"stable", "simple"}),
        (["Nonsense"], set()),
        (["preparingrebalance", "CompletingRebalance"], {"preparing", "completing"}),
    ):
        assert set(listed(bench, states)) == names
    for types, count in ((["classic"], 4), (["CLASSIC"], 4), (["consumer"], 0), (["consumer", "classic"], 4)):
        assert len(listed(bench, types=types)) == count
    assert set(listed(bench, ["Empty"], ["classic"])) == {"simple"}
