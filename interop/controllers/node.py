"""One node of a mixed cluster. Another program can run it after a stop, and it can lose its disk.
The folder stays the same."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from interop.local import node
from interop.local.node import finished
from interop.quorum import CONTROLLER, Address, Seat
from kafkadouble.server.log.formats import meta_properties, names

from .kinds import Kind

METADATA = "__cluster_metadata-0"


class Node(node.Node):
    """A node of the cluster, its folder, and its process while it runs."""

    def __init__(self, seat: Seat, kind: Kind, cluster_id: str, folder: Path, settings: Mapping[str, str]) -> None:
        super().__init__(seat, kind, cluster_id, folder, settings)
        self._formatted_with: list[str] = []

    @property
    def metadata(self) -> Path:
        """The folder of its metadata log and snapshots."""
        return self.data / METADATA

    @property
    def directory_id(self) -> str:
        """The id of its log directory."""
        found = meta_properties.read((self.data / names.META_PROPERTIES).read_bytes())
        return str(found.directory_id)

    @property
    def controls_at(self) -> Address:
        return self.seat.known[CONTROLLER]

    def formatting(self, words: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        self._formatted_with = [*words]
        return super().formatting(words)

    def become(self, kind: Kind) -> None:
        """Sets the program that runs it from now on, with the files that the previous one left."""
        assert not self.running, "the node runs"
        self.kind = kind

    def lose_disk(self) -> None:
        """Replaces its log directory by a newly formatted one of the same node id."""
        assert not self.running, "the node runs"
        shutil.rmtree(self.data)
        finished([self.formatting(self._formatted_with)])
