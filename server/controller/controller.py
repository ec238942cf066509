"""The controller of a node: what it does when it becomes the active one, and what it decides about
its own node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages.uuid import Uuid

from ..metadata.broken_log import BrokenLog
from ..metadata.features import METADATA_VERSION
from ..metadata.image import TopicImage
from ..metadata.metadata_log import encoded_records
from ..metadata.record_versions import batch_level
from . import bootstrap, broker_unfenced, self_registration
from .active_controller import ActiveController
from .metadata_writer import MetadataWriter
from .periodic_tasks import PeriodicTasks
from .producer_id_manager import ProducerIdManager

if TYPE_CHECKING:
    from .host import ControllerHost


class Controller(MetadataWriter):
    """The controller of one node."""

    def __init__(self, node: ControllerHost) -> None:
        super().__init__(node)
        self.producer_ids = ProducerIdManager(node, self)
        self.periodic_tasks = PeriodicTasks(node, self)

    def _become_active(self) -> None:
        """Becomes the active controller: writes the first records of a new cluster, and registers
        this node.
        """
        node, epoch = self._node, self._elected
        assert epoch is not None
        start_heartbeat_manager = self.periodic_tasks.start_heartbeat_manager
        self._elected, self._active = None, ActiveController(epoch, self.image, start_heartbeat_manager)
        if self.delta.in_transaction:
            try:
                # One that the previous active controller left open (KIP-868).
                from ..metadata.metadata_transactions import abort_records

                records, active = abort_records(self.delta), self.active
                level = batch_level(records, active.image.features.get(METADATA_VERSION))
                self._node.quorum.append(encoded_records(records, level), flush=False)
            except BrokenLog as problem:
                node.halted = str(problem)
                return
        if not self.image.features:
            self.commit(bootstrap.cluster_records(node.logs.bootstrap, str(node.settings.int("min.insync.replicas"))))
        self_registration.register_node(node, self)
        self.periodic_tasks.start(self._active)

    def metadata_version_raised(self) -> None:
        """Writes the parts of this node's registration that the previous metadata.version did not
        have.
        """
        self_registration.complete_registration(self._node, self)

    def directory_lost(self, directory: Uuid, partitions: Sequence[tuple[str, int]]) -> None:
        """A log directory of this node failed: its partitions lose their leader (KIP-858)."""
        broker = self.image.brokers.get(self._node.id)
        if broker is None or not self.leads:
            return
        self.commit(
            broker_unfenced.own_directory_failed(self.draft, broker.id, self._node.settings, directory, partitions)
        )

    def partitions_lost(self, directory: Uuid, partitions: Sequence[tuple[str, int]]) -> None:
        """Files of these partitions of this node are lost, in a directory that still works: the
        partitions continue without it.
        """
        broker = self.image.brokers.get(self._node.id)
        if broker is not None and self.leads:
            lost = broker_unfenced.own_partition_files_lost(
                self.draft, broker.id, self._node.settings, directory, partitions
            )
            self.commit(lost)

    def assign_directory(self, topic: str, index: int, directory: Uuid) -> None:
        """A replica of this node is in this log directory, or will be there soon (KIP-858)."""
        if self._node.id in self.image.brokers and self.leads:
            from .assign_replicas_to_dirs import directory_assignment_records

            settings = self._node.settings
            self.commit(directory_assignment_records(self.draft, self._node.id, settings, directory, [(topic, index)]))

    def create_internal_topic(self, name: str) -> TopicImage:
        """An internal topic, created if it does not exist. Refusal if it cannot be created, or is
        not committed yet.
        """
        found = self.image.topic_named(name)
        if found is None:
            # Imported late: most nodes create no topic at the start.
            from .auto_topic_creation_manager import auto_create_internal_topic

            found = auto_create_internal_topic(self._node, self, name)
        return found
