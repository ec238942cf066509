"""`kafkadouble format`: make log directories of a node, as `kafka-storage format` does. Its flags are Kafka's."""

from __future__ import annotations

import argparse
import os
import sys
import time

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.logs.formatting import format_directory
from kafkadouble.server.logs.log_dir import properties_of
from kafkadouble.server.metadata.bootstrap import format_records
from kafkadouble.server.metadata.release import METADATA_VERSION, NAMES, features_of, level_of
from kafkadouble.server.metadata.scram import credential
from kafkadouble.server.settings import Settings, properties
from kafkadouble.wire.errors import UsageError, WireError

from ..data_dirs import log_dirs

WRONG_USE = 2


def main(words: list[str]) -> int:
    """Format what is not formatted."""
    options = parser().parse_args(words)
    try:
        _format(options)
    except (UsageError, WireError, DiskFailure, OSError) as problem:
        print(f"kafkadouble: {problem}", file=sys.stderr)
        return WRONG_USE
    return 0


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        "kafkadouble format",
        description="Make the log directories that a server.properties names (log.dirs, metadata.log.dir): `kafkadouble serve --config FILE`, "
        "or Apache Kafka, starts on them.",
        epilog="Exit codes: 0 formatted, 2 a wrong option or setting, or a directory that has something in it already.",
    )
    add = made.add_argument
    add("-c", "--config", required=True, metavar="FILE", help="a server.properties of Kafka")
    add("-t", "--cluster-id", metavar="ID", help="the cluster that the node belongs to (default: a new one)")
    add("-g", "--ignore-formatted", action="store_true", help="pass over directories that are formatted already")
    add(
        "-r",
        "--release-version",
        metavar="RELEASE",
        help="the release whose metadata the cluster has (default: the newest)",
    )
    add(
        "-f",
        "--feature",
        action="append",
        default=[],
        metavar="NAME=LEVEL",
        help="the level of a feature; may be repeated",
    )
    add(
        "-S",
        "--add-scram",
        action="append",
        default=[],
        metavar="MECHANISM=[name=...,password=...]",
        help="a credential that the cluster begins with, such as SCRAM-SHA-256=[name=alice,password=secret]; may be repeated",
    )
    return made


def _format(options: argparse.Namespace) -> None:
    with open(options.config, encoding="utf-8") as file:
        settings = Settings(sources=properties(file.read(), options.config))
    features = _features(options)
    records = [*format_records(features), *(credential(text, os.urandom) for text in options.add_scram)]
    cluster_id = options.cluster_id or str(_new_id())
    paths = log_dirs(settings)
    disks = {path: RealDisk(path) for path in paths}
    known = {path: properties_of(disk, path) for path, disk in disks.items()}
    formatted = [path for path, found in known.items() if found is not None]
    if formatted and not options.ignore_formatted:
        raise UsageError(
            f"{formatted[0]} is already formatted; --ignore-formatted passes over it, and formats the others"
        )
    if len(formatted) == len(paths):
        print("All of the log directories are already formatted.")
    for path in paths:
        if path not in formatted:
            now = time.time_ns() // 1_000_000
            format_directory(disks[path], path, cluster_id, settings.int("node.id"), _new_id(), records, now)
            kind = "metadata" if path == paths[0] else "data"
            print(f"Formatting {kind} directory {path} with {METADATA_VERSION} {NAMES[features[METADATA_VERSION]]}.")


def _features(options: argparse.Namespace) -> dict[str, int]:
    given = {}
    for word in options.feature:
        name, equals, level = word.partition("=")
        if not equals or not level.isdecimal():
            raise UsageError(f"--feature {word}: a feature is given as name=level")
        given[name] = int(level)
    if METADATA_VERSION in given and options.release_version:
        raise UsageError(f"--release-version and --feature {METADATA_VERSION} are two answers to one question")
    level = level_of(options.release_version) if options.release_version else given.get(METADATA_VERSION, max(NAMES))
    return features_of(level, given)


def _new_id() -> Uuid:
    return Uuid.random(os.urandom)
