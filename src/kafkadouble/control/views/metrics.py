"""Metrics in the text format of Prometheus.

The names are those that Prometheus' JMX exporter makes of Kafka's own: the MBean
`kafka.controller:type=KafkaController,name=GlobalTopicCount` is
`kafka_controller_kafkacontroller_globaltopiccount`. Metrics of the double itself begin with
`kafkadouble_`. Requests are counted since the first reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, SummaryMetricFamily
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from kafkadouble.brokers.cluster_description import RUNNING, ClusterDescription
from kafkadouble.common.errors import KafkaError
from kafkadouble.common.version import __version__
from kafkadouble.host.host import host_of
from kafkadouble.server.tracing.request_counts import RequestCounts
from kafkadouble.topics.topic_description import TopicDescription

if TYPE_CHECKING:
    from kafkadouble.coordinators.group_values import Group
    from kafkadouble.verbs.double_api import DoubleApi

REQUESTS = "kafka_network_requestmetrics_"
TOPICS = "kafka_server_brokertopicmetrics_"
CONTROLLER = "kafka_controller_kafkacontroller_"


def exposition(kafka: DoubleApi) -> str:
    """The metrics as text."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Readings(kafka))
    return generate_latest(registry).decode()


def counts_of(kafka: DoubleApi) -> RequestCounts:
    """The counts of requests; they begin with the first call."""
    running = host_of(kafka).serving()

    def counts() -> RequestCounts:
        history = running.broker.history
        if history.counts is None:
            history.counts = RequestCounts()
        return history.counts

    return running.thread.call(counts)


class _Readings(Collector):
    """The metrics of one double at one moment."""

    def __init__(self, kafka: DoubleApi) -> None:
        self._kafka = kafka

    def collect(self) -> Iterator[Any]:
        kafka = self._kafka
        yield InfoMetricFamily("kafkadouble", "The version of the program.", {"version": __version__})
        yield from _of_requests(counts_of(kafka))
        yield from _of_cluster(kafka.describe_cluster(), kafka.topics(internal=True))
        yield from _of_groups(_groups(kafka))
        hits = CounterMetricFamily("kafkadouble_rule_hits", "How often a rule was applied.", labels=("id", "rule"))
        for handle in kafka.rules:
            hits.add_metric((str(handle.id), repr(handle.rule)), handle.hits)
        yield hits


def _groups(kafka: DoubleApi) -> list[Group]:
    try:
        return list(kafka.groups().values())
    except KafkaError:  # no broker runs that could be asked
        return []


def _of_groups(groups: list[Group]) -> Iterator[Any]:
    """Their number under Kafka's name, and under those of kafka_exporter what Kafka's brokers do
    not tell."""
    yield _gauge("kafka_coordinator_group_groupmetadatamanager_numgroups", "Groups.", len(groups))
    members = GaugeMetricFamily("kafka_consumergroup_members", "The members of a group.", labels=("consumergroup",))
    lag = GaugeMetricFamily(
        "kafka_consumergroup_lag", "What a group has not read.", labels=("consumergroup", "topic", "partition")
    )
    for group in groups:
        members.add_metric((group.id,), len(group.members))
        for (topic, partition), behind in group.lags.items():
            lag.add_metric((group.id, topic, str(partition)), behind)
    yield from (members, lag)


def _of_requests(counts: RequestCounts) -> Iterator[Any]:
    requests = CounterMetricFamily(f"{REQUESTS}requests", "Requests of clients.", labels=("request", "version"))
    for (api, version), count in counts.requests.items():
        requests.add_metric((api, str(version)), count)
    yield requests
    errors = CounterMetricFamily(f"{REQUESTS}errors", "Errors in answers.", labels=("request", "error"))
    for names, count in counts.errors.items():
        errors.add_metric(names, count)
    yield errors
    times = SummaryMetricFamily(f"{REQUESTS}totaltimems", "Time up to the answer, in ms.", labels=("request",))
    for api, count in counts.answered.items():
        times.add_metric((api,), count, counts.times[api])
    yield times
    for name, words, sizes in (
        ("bytesin", "Bytes of records that clients sent.", counts.bytes_in),
        ("bytesout", "Bytes of records that clients fetched.", counts.bytes_out),
    ):
        family = CounterMetricFamily(f"{TOPICS}{name}", words, labels=("topic",))
        for topic, size in sizes.items():
            family.add_metric((topic,), size)
        yield family


def _of_cluster(cluster: ClusterDescription, topics: dict[str, TopicDescription]) -> Iterator[Any]:
    states = [state for topic in topics.values() for state in topic.partitions.values()]
    brokers = cluster.brokers.values()
    yield _gauge(
        f"{CONTROLLER}activebrokercount", "Brokers that are not fenced.", sum(not b.is_fenced for b in brokers)
    )
    yield _gauge(f"{CONTROLLER}fencedbrokercount", "Brokers that are fenced.", sum(b.is_fenced for b in brokers))
    yield _gauge(f"{CONTROLLER}globaltopiccount", "Topics.", len(topics))
    yield _gauge(f"{CONTROLLER}globalpartitioncount", "Partitions.", len(states))
    leaderless = sum(state.leader is None for state in states)
    yield _gauge(f"{CONTROLLER}offlinepartitionscount", "Partitions without a leader.", leaderless)
    behind = sum(len(state.isr) < len(state.replicas) for state in states)
    name = "kafka_server_replicamanager_underreplicatedpartitions"
    yield _gauge(name, "Partitions with replicas that are not in sync.", behind)
    running = GaugeMetricFamily("kafkadouble_broker_running", "Whether a broker runs.", labels=("broker",))
    for broker in brokers:
        running.add_metric((str(broker.id),), broker.state == RUNNING)
    yield running
    for name, words, attribute in OFFSETS:
        family = GaugeMetricFamily(f"kafka_log_log_{name}", words, labels=("topic", "partition"))
        for state in states:
            if (value := getattr(state, attribute)) is not None:
                family.add_metric((state.topic, str(state.partition)), value)
        yield family


OFFSETS = (
    ("logstartoffset", "The log start offset at the leader.", "start_offset"),
    ("logendoffset", "The log end offset at the leader.", "end_offset"),
)


def _gauge(name: str, words: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, words, value)
