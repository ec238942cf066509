"""What happens in a life: a table of what clients and administrators do, and how often."""

from __future__ import annotations

from collections.abc import Callable

from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.delete_records import DeleteRecordsRequest
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest

from .bounds import KEYS
from .cluster import CREATE_VERSION, Cluster, Key
from .groups import GROUPS

MOST_BATCHES = 25
PASSING = ("x", "y")
"""Topics that come and go."""

BROKERS = 4
"""The kind of resource that a broker's settings are."""


def produce(cluster: Cluster) -> None:
    """So much that segments end."""
    random = cluster.world.random
    keys = [*cluster.partitions()]
    if not keys:
        return
    write(cluster, random.choice(keys), random.randint(1, MOST_BATCHES))


def write(cluster: Cluster, key: Key, batches: int) -> None:
    """So many batches of one record."""
    random = cluster.world.random
    for _ in range(batches):
        name = b"key%d" % random.randrange(KEYS) if key[0] == "compacted" else None
        cluster.produce(key, [(name, random.choice((0, 100, 250)))])
        cluster.world.run_for(random.choice((0, 2, 20)))


def commit(cluster: Cluster) -> None:
    """Offsets of a group, again and again, so that compaction has something to do."""
    random = cluster.world.random
    group = random.choice(GROUPS)
    for _ in range(random.choice((2, 10, 40))):
        cluster.groups.commit(group)
        cluster.world.run_for(random.choice((2, 10)))


def delete_records(cluster: Cluster) -> None:
    """Those that clients need no more: the log begins later."""
    random = cluster.world.random
    keys = [key for key in cluster.partitions() if key[0] == "kept"]
    key = random.choice(keys) if keys else None
    log = None if key is None else cluster.led(key)
    if key is None or log is None or log.high_watermark <= log.log_start_offset:
        return
    of = DeleteRecordsRequest
    offset = random.randint(log.log_start_offset, log.high_watermark)
    partition = of.DeleteRecordsPartition(partition_index=key[1], offset=offset)
    body = of(topics=[of.DeleteRecordsTopic(name=key[0], partitions=[partition])], timeout_ms=1000)
    cluster.ask(cluster.partitions()[key].leader, body, 2, lambda answer: None)


def configure(cluster: Cluster) -> None:
    """Many records for the metadata, which say the same in the end."""
    of, random = IncrementalAlterConfigsRequest, cluster.world.random
    for _ in range(random.choice((2, 20, 60))):
        change = of.AlterableConfig(
            name="log.retention.ms", config_operation=0, value=str(random.randint(10**9, 10**10))
        )
        resource = of.AlterConfigsResource(resource_type=BROKERS, resource_name="", configs=[change])
        cluster.tell_controller(of(resources=[resource]), 1)
        cluster.world.run_for(random.choice((1, 5)))


def come_and_go(cluster: Cluster) -> None:
    """A topic is made, or deleted."""
    name = cluster.world.random.choice(PASSING)
    if cluster.watch.image.topic_named(name) is None:
        of = CreateTopicsRequest
        topic = of.CreatableTopic(name=name, num_partitions=2, replication_factor=1)
        cluster.tell_controller(of(topics=[topic], timeout_ms=1000), CREATE_VERSION)
    else:
        cluster.tell_controller(DeleteTopicsRequest(topic_names=[name], timeout_ms=1000), 5)


def wait(cluster: Cluster) -> None:
    """Until something is due: a flush, retention, a compaction, a look at the snapshots."""
    cluster.world.run_for(cluster.world.random.choice((50, 1000, 6000, 16_000, 65_000)))


Deed = Callable[[Cluster], None]

DEEDS: dict[Deed, int] = {produce: 6, commit: 2, delete_records: 1, configure: 3, come_and_go: 2, wait: 3}
"""What, and how often in comparison."""


def some(cluster: Cluster, count: int) -> None:
    random = cluster.world.random
    for deed in random.choices(list(DEEDS), list(DEEDS.values()), k=count):
        cluster.count[deed.__name__] += 1
        deed(cluster)
        cluster.world.run_for(random.choice((1, 10, 300)))
