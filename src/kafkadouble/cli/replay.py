"""`kafkadouble replay`: sends the requests of a recording to another Kafka, and reports how the
answers differ.

Exit codes: 0 no differences; 1 differences; 2 a wrong call, or no recording; 3 the target cannot be
reached.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import TYPE_CHECKING

from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.wire.client_log import printable
from kafkadouble.wire.errors import UsageError

if TYPE_CHECKING:
    from kafkadouble.external import given_client
    from kafkadouble.replay import replay_run, replaying, target_security
    from kafkadouble.replay import target as targets
    from kafkadouble.replay.comparison import field_rules
    from kafkadouble.replay.recorded import recording as recordings
else:  # a start waits for none of them
    recordings = OnFirstUse("kafkadouble.replay.recorded.recording")
    targets = OnFirstUse("kafkadouble.replay.target")
    field_rules = OnFirstUse("kafkadouble.replay.comparison.field_rules")
    given_client = OnFirstUse("kafkadouble.external.given_client")
    replay_run = OnFirstUse("kafkadouble.replay.replay_run")
    replaying = OnFirstUse("kafkadouble.replay.replaying")
    target_security = OnFirstUse("kafkadouble.replay.target_security")

SAME, DIFFERENT, NOT_REACHED = 0, 1, 3

_EPILOG = """\
examples:
  kafkadouble serve --capture session.parquet --capture-frames
  kafkadouble replay session.parquet localhost:9092
  kafkadouble replay --create-topics session.parquet localhost:9092
  kafkadouble replay --ignore leaderEpoch --ignore DescribeConfigs.value session.parquet localhost:9092
  kafkadouble replay --client-config client.properties session.parquet localhost:9093
  kafkadouble replay --json session.parquet localhost:9092 > report.json

The target must begin as the recorded cluster began.
Exit codes: 0 no differences, 1 differences, 2 a wrong call, or no recording, 3 the target cannot be reached.
"""


def main(words: list[str]) -> int:
    """Replays the given recording."""
    parser = _parser()
    options = parser.parse_args(words)
    try:
        return _replay(options)
    except UsageError as error:
        parser.error(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "kafkadouble replay",
        description="Send the requests of a recording to another Kafka, in their order, and report how its answers differ\n"
        "from the recorded ones. Ids that servers choose stand for one another; times, hosts and texts for people\n"
        "may differ.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("recording", metavar="RECORDING", help="a capture with frames: a file, or a folder")
    add("target", metavar="HOST:PORT", help="a broker of the Kafka to ask")
    add("--run", metavar="NAME", help="the run to replay, if the recording has several")
    add(
        "--ignore",
        action="append",
        default=[],
        metavar="FIELD",
        help="a field of answers that may differ, as leaderEpoch or Metadata.leaderEpoch; may be repeated",
    )
    add(
        "--patience",
        type=_seconds,
        default=30.0,
        metavar="SECONDS",
        help="how long an answer may take beyond the recorded time (default 30)",
    )
    add(
        "--client-config",
        metavar="FILE",
        help="client properties for a target with TLS or SASL, as Kafka's tools take them: security.protocol and others",
    )
    add(
        "--create-topics",
        action="store_true",
        help="first create the topics that the recorded cluster had before the recording, with the defaults of the target",
    )
    add("--json", action="store_true", help="print the report as JSON")
    return parser


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is no number of seconds above 0")
    return seconds


def _security(options: argparse.Namespace) -> target_security.TargetSecurity:
    if options.client_config is None:
        return target_security.PLAINTEXT
    return target_security.TargetSecurity.of(options.target, given_client.client_properties(options.client_config))


def _replay(options: argparse.Namespace) -> int:
    target, ignored = targets.parsed(options.target), field_rules.check_ignored(options.ignore)
    security = _security(options)
    recording = recordings.load(options.recording, options.run)
    how = replay_run.ReplayOptions(options.patience, ignored, options.create_topics, security)
    try:
        report = asyncio.run(replaying.replay(recording, target, how))
    except targets.TargetError as problem:
        print(printable(f"kafkadouble replay: {problem}"), file=sys.stderr)
        return NOT_REACHED
    if options.json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        for line in report.lines():
            print(printable(line))
    return SAME if report.is_same else DIFFERENT
