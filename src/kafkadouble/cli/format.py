"""`kafkadouble format`: formats the log directories of a node, as `kafka-storage format` does, with
Kafka's flags."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping
from typing import NoReturn

from kafkadouble.engine.data.data_dirs import log_dirs
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.configs.listener_specs import check_routable, listener_specs
from kafkadouble.server.configs.node_rules import check_node
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.controller.bootstrap import format_records
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.logs.formatting import BootstrapMetadata, format_directory
from kafkadouble.server.logs.log_dir import properties_of
from kafkadouble.server.metadata.features import METADATA_VERSION
from kafkadouble.server.metadata.metadata_versions import NAMES, features_at_level, parse_level
from kafkadouble.server.security.scram import credential
from kafkadouble.wire.errors import UsageError, WireError

from .parts.file_errors import FileErrors
from .parts.format_quorum import KRAFT_VERSION, add_flags, quorum_of
from .parts.settings_file import settings_of_file, warning

REFUSED = 1
"""The exit code for every refusal, as in kafka-storage."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(REFUSED, f"{self.prog}: error: {message}\n")


def main(words: list[str]) -> int:
    """Formats the directories that are not formatted yet."""
    options = parser().parse_args(words)
    try:
        with FileErrors(str):
            _format(options)
    except (UsageError, WireError, DiskFailure) as problem:
        print(f"kafkadouble: {problem}", file=sys.stderr)
        return REFUSED
    return 0


def parser() -> argparse.ArgumentParser:
    """Defines the options."""
    made = _Parser(
        "kafkadouble format",
        description="Format the log directories that a server.properties names (log.dirs, metadata.log.dir). `kafkadouble serve --config FILE` "
        "and Apache Kafka start on them.",
        epilog="Exit codes: 0 formatted, 1 a wrong option or setting, or a directory that is already formatted or cannot be used.",
    )
    add = made.add_argument
    add("-c", "--config", required=True, metavar="FILE", help="a server.properties of Kafka")
    add(
        "--strict",
        action="store_true",
        help="refuse a setting of the file that Kafka does not know, which is else a warning",
    )
    add("-t", "--cluster-id", metavar="ID", help="the cluster that the node belongs to (default: a new one)")
    add("-g", "--ignore-formatted", action="store_true", help="skip directories that are already formatted")
    add(
        "-r",
        "--release-version",
        metavar="RELEASE",
        help="the release whose metadata.version the cluster gets (default: the newest)",
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
        help="a SCRAM credential to create, such as SCRAM-SHA-256=[name=alice,password=secret]; may be repeated",
    )
    add_flags(made)
    return made


def _format(options: argparse.Namespace) -> None:
    given, unknown = settings_of_file(options.config, options.strict)
    settings = Settings(sources=given, unknown=unknown)
    check_node(settings)
    check_routable(settings, listener_specs(settings))
    for setting in unknown:
        print(f"kafkadouble: {warning(setting)}", file=sys.stderr)
    features, kraft_version = _features(options)
    records = [*format_records(features), *(credential(text, os.urandom) for text in options.add_scram)]
    quorum = quorum_of(options, settings, kraft_version, _new_id())
    paths = log_dirs(settings)
    disks = {path: RealDisk(path) for path in paths}
    cluster_id, formatted = _cluster(options, settings, disks)
    if len(formatted) == len(paths):
        print("All of the log directories are already formatted.")
    is_controller = "controller" in settings.list("process.roles")
    first = quorum.kind, quorum.directory_id, BootstrapMetadata(records, *quorum[:2]) if is_controller else None
    for path in [path for path in paths if path not in formatted]:
        kind, id, beginning = first if path == paths[0] else ("data directory", None, None)
        now = time.time_ns() // 1_000_000
        format_directory(disks[path], path, cluster_id, settings.int("node.id"), id or _new_id(), now, beginning)
        print(f"Formatting {kind} {path} with {METADATA_VERSION} {NAMES[features[METADATA_VERSION]]}.")


def _cluster(options: argparse.Namespace, settings: Settings, disks: Mapping[str, RealDisk]) -> tuple[str, list[str]]:
    """The cluster's id, and the directories that are already formatted. Raises UsageError when
    there are formatted directories without `--ignore-formatted`, or when they belong to another
    node or cluster."""
    found = {path: properties_of(disk, path) for path, disk in disks.items()}
    known = {path: properties for path, properties in found.items() if properties is not None}
    if known and not options.ignore_formatted:
        first = next(iter(known))
        raise UsageError(f"{first} is already formatted; --ignore-formatted passes over it, and formats the others")
    cluster_id = options.cluster_id or next((each.cluster_id for each in known.values()), None) or str(_new_id())
    for path, own in known.items():
        if own.node_id != settings.int("node.id"):
            raise UsageError(f"{path} belongs to node {own.node_id}, and this is node {settings.int('node.id')}")
        if own.cluster_id != cluster_id:
            raise UsageError(f"{path} belongs to cluster {own.cluster_id}, and this is cluster {cluster_id}")
    return cluster_id, list(known)


def _features(options: argparse.Namespace) -> tuple[dict[str, int], int | None]:
    """The features that become records, and the given `kraft.version`, which does not."""
    given = {}
    for word in options.feature:
        name, equals, level = word.partition("=")
        if not equals or not level.isdecimal():
            raise UsageError(f"--feature {word}: a feature is given as name=level")
        given[name] = int(level)
    if METADATA_VERSION in given and options.release_version:
        raise UsageError(f"--release-version and --feature {METADATA_VERSION} are two answers to one question")
    kraft_version = given.pop(KRAFT_VERSION, None)
    level = parse_level(options.release_version) if options.release_version else given.get(METADATA_VERSION, max(NAMES))
    return features_at_level(level, given), kraft_version


def _new_id() -> Uuid:
    return Uuid.random(os.urandom)
