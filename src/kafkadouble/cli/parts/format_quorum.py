"""Chooses the quorum that the directories of a node are formatted for, from the node's settings and
the flags of `format` (KIP-595, KIP-853).

    controller.quorum.voters is set       these voters, in kraft.version 0: they cannot change
    --standalone                          this node alone, in kraft.version 1: others can be added
    --initial-controllers ...             these, in kraft.version 1
    --no-initial-controllers              kraft.version 1; the voters are learnt from the quorum

A controller with none of these is refused, as in kafka-storage, if
`controller.quorum.bootstrap.servers` is set, or `process.roles`. Settings with neither are not
Kafka's: the node is then the only voter, in kraft.version 0. The refusals have the texts of
kafka-storage.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.configs.listener_specs import listener_specs
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.raft.initial_voters import parse, standalone
from kafkadouble.server.raft.voters import VoterSet
from kafkadouble.server.requests.listener_spec import Address, of_controllers
from kafkadouble.wire.errors import UsageError

VOTERS, KRAFT_VERSION = "controller.quorum.voters", "kraft.version"
DYNAMIC = (
    f"{VOTERS} is empty and one of the flags --standalone, --initial-controllers, or --no-initial-controllers is used"
)


class Quorum(NamedTuple):
    """The `kraft.version`; the voters of a new quorum, if they are given; the directory id of this
    node, if it is a voter."""

    kraft_version: int
    voters: VoterSet | None
    directory_id: Uuid | None

    @property
    def kind(self) -> str:
        """The name that kafka-storage uses for the metadata directory."""
        if self.voters is None:
            return "metadata directory"
        return "dynamic metadata directory" if self.directory_id is None else "dynamic metadata voter directory"


def add_flags(made: argparse.ArgumentParser) -> None:
    """Adds the three flags; at most one of them may be given."""
    add = made.add_mutually_exclusive_group().add_argument
    add(
        "-s",
        "--standalone",
        action="store_true",
        help="this controller is the only voter of its quorum; others can be added later",
    )
    add(
        "-N",
        "--no-initial-controllers",
        action="store_true",
        help="name no voters: the node is a broker, or a controller that will be added to a quorum",
    )
    add(
        "-I",
        "--initial-controllers",
        metavar="ID@HOST:PORT:DIRECTORY_ID,...",
        help="the voters of a new quorum; voters can be added and removed later; give the same list on every node",
    )


def quorum_of(options: argparse.Namespace, settings: Settings, given: int | None, new_id: Uuid) -> Quorum:
    """The quorum for these settings and flags.

    `given` is the requested `kraft.version`; `new_id` becomes the directory id of a standalone
    node. Raises UsageError when settings and flags contradict one another.
    """
    static = settings.list(VOTERS)
    has_voters = options.standalone or options.initial_controllers is not None
    if static and has_voters:
        raise UsageError(
            f"You cannot specify {VOTERS} and format the node with --initial-controllers or --standalone. If you want to use dynamic quorum, "
            f"please remove {VOTERS} and specify controller.quorum.bootstrap.servers instead."
        )
    has_bootstrap_servers = bool(settings.list("controller.quorum.bootstrap.servers"))
    dynamic = not static and (has_voters or options.no_initial_controllers or has_bootstrap_servers)
    voters = _voters(options, settings, new_id) if has_voters else None
    if dynamic and not (has_voters or options.no_initial_controllers) and _is_controller(settings):
        raise UsageError(
            f"Because {VOTERS} is not set on this controller, you must specify one of the following: --standalone, --initial-controllers, "
            "or --no-initial-controllers."
        )
    own = None if voters is None else voters.get(settings.int("node.id"))
    return Quorum(_level(given, dynamic), voters, None if own is None else own.key.directory_id)


def _voters(options: argparse.Namespace, settings: Settings, new_id: Uuid) -> VoterSet:
    listener = settings.list("controller.listener.names")[0].upper()
    if not options.standalone:
        return parse(options.initial_controllers, listener)
    if not _is_controller(settings):
        raise UsageError("You can only use --standalone on a controller.")
    host, port = _advertised(settings)
    return standalone(settings.int("node.id"), new_id, listener, host or "localhost", port)


def _advertised(settings: Settings) -> Address:
    """The address of the controller for other nodes."""
    for spec in of_controllers(listener_specs(settings)):
        if spec.advertised is not None:
            return spec.advertised
    raise UsageError("No controller listeners found.")


def _is_controller(settings: Settings) -> bool:
    return "controller" in settings.list("process.roles")


def _level(given: int | None, dynamic: bool) -> int:
    if given is None:
        return int(dynamic)
    if given not in (0, 1):
        raise UsageError(f"{KRAFT_VERSION} goes from 0 to 1: {given} does not")
    if given == 0 and dynamic:
        raise UsageError(
            f"Cannot set {KRAFT_VERSION} to 0 if {DYNAMIC}. For dynamic controllers support, try removing the --feature flag for "
            f"{KRAFT_VERSION}."
        )
    if given and not dynamic:
        raise UsageError(
            f"Cannot set {KRAFT_VERSION} to {given} unless {DYNAMIC}. For dynamic controllers support, try using one of --standalone, "
            f"--initial-controllers, or --no-initial-controllers and removing {VOTERS}."
        )
    return given
