"""The checklist of the quorum's behaviour: each row is held by a test that bears its number."""

import re
from pathlib import Path

ROWS = {
    40: "a single voter boots to leader",
    41: "a leader that restarts has resigned, and gives no vote in that epoch",
    42: "a vote once per epoch, remembered over a restart",
    43: "logs compare by epoch, then by offset; equality grants",
    44: "a candidate with an older log never wins",
    45: "observers and strangers may ask, and are answered",
    46: "a voter's id or directory that is not ours",
    47: "begin: another leader in the same epoch, an older epoch, more endpoints than known",
    48: "end: the order of successors, an older epoch",
    49: "check-quorum, but not of a sole voter",
    50: "the high watermark only after an entry of the own epoch; it never falls",
    51: "a parked fetch completes on a write, in time, on resignation, on news of the high watermark",
    52: "a fetch timeout makes a voter prospective, an observer never",
    53: "pre-votes",
    54: "INVALID_REQUEST only for what is malformed",
    55: "an anonymous replica fetches",
    56: "UNKNOWN_LEADER_EPOCH is retried",
    57: "voters are added, removed, updated",
    58: "a new directory joins of its own accord",
    59: "CLUSTER_AUTHORIZATION_FAILED is the end",
    60: "KIP-1219: the bytes of a fetch",
    61: "KIP-1166: the high watermark of a follower",
    62: "bytes that are no batches",
}


def test_every_row_has_a_test() -> None:
    text = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    held = {int(number) for number in re.findall(r"^def test_(\d\d)_", text, re.MULTILINE)}
    assert set(ROWS) <= held
