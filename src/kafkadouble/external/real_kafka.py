"""A Kafka that is not a double, with the verbs of KafkaDouble that it can serve.

    with RealKafka("localhost:9092", {"bootstrap.servers": "localhost:9092"}) as kafka:
        kafka.produce("orders", "two pears")

Rules. A verb is the same method as that of KafkaDouble wherever requests are enough: what it is
given as broker reads the state of the Kafka by requests. `served.py` decides which verbs there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from kafkadouble.brokers.cluster_description import RUNNING, STOPPED, BrokerDescription, ClusterDescription
from kafkadouble.common.errors import raise_for
from kafkadouble.common.listening import text_of
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest
from kafkadouble.verbs.double_api import DoubleApi

from . import polling
from .given_client import given_client_config
from .remote.connections import KafkaConnections
from .remote.remote_cluster import RemoteCluster
from .remote.served import ONLY_ON_DOUBLE, OWN_KAFKA, OnlyOnDoubleAttribute
from .remote_host import RemoteHost

if TYPE_CHECKING:
    from kafkadouble.common.literals import ClientLibrary

WITH_FENCED = 2
"""The first version of DescribeCluster that has fenced brokers."""


class RealKafka(DoubleApi):
    """The Kafka at `bootstrap_servers`. `client` are the settings of a client that may do what a
    test does; `target` says in messages which Kafka it is."""

    is_real = True

    def __init__(self, bootstrap_servers: str, client: Mapping[str, object], target: str = "") -> None:
        self._bootstrap, self._client, self.target = bootstrap_servers, client, target or bootstrap_servers
        self._connections = KafkaConnections(client)
        self._remote = RemoteCluster(self._connections)
        super().__init__(RemoteHost(self, self._remote))

    @property
    def bootstrap_servers(self) -> str:
        """HOST:PORT of brokers, for the setting `bootstrap.servers` of a client."""
        return self._bootstrap

    @property
    def port(self) -> int:
        """The port of the first broker."""
        return int(self.bootstrap_servers.split(",")[0].rpartition(":")[2])

    @property
    def aio(self) -> polling.PolledAsyncWaits:
        """As KafkaDouble.aio."""
        return polling.PolledAsyncWaits(self)

    @property
    def created_topics(self) -> set[str]:
        """The topics that were created by verbs."""
        return self._remote.created

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        config: Mapping[str, object] | None = None,
        replication_factor: int | None = None,
    ) -> None:
        """As KafkaDouble.create_topic; returns once every broker knows the topic."""
        super().create_topic(name, partitions, config, replication_factor)
        self._double_host.call(self._remote.wait_until_all_know, name)

    def create_partitions(self, topic: str, partitions: int) -> None:
        """As KafkaDouble.create_partitions; returns once every broker knows the partitions."""
        super().create_partitions(topic, partitions)
        self._double_host.call(self._remote.wait_until_all_know, topic, partitions)

    def delete_topic(self, name: str) -> None:
        """As KafkaDouble.delete_topic; returns once no broker knows the topic."""
        super().delete_topic(name)
        self._double_host.call(self._remote.wait_until_none_knows, name)

    def describe_cluster(self) -> ClusterDescription:
        """As KafkaDouble.describe_cluster. A broker that is fenced counts as stopped."""
        return self._double_host.call(self._described)

    def _described(self) -> ClusterDescription:
        newest = self._connections.highest(ApiKeys.DESCRIBE_CLUSTER)
        response = self._connections.ask(DescribeClusterRequest(include_fenced_brokers=newest >= WITH_FENCED))
        raise_for(response.error_code, response.error_message)
        brokers = {
            broker.broker_id: BrokerDescription(
                broker.broker_id,
                self._address(broker.host, broker.port),
                STOPPED if broker.is_fenced else RUNNING,
                broker.is_fenced,
            )
            for broker in sorted(response.brokers, key=lambda one: one.broker_id)
        }
        now = self._remote.clock.now()
        return ClusterDescription(response.cluster_id, response.controller_id, self.bootstrap_servers, brokers, now)

    def _address(self, host: str, port: int) -> str:
        return text_of(host, port)

    def client_config(
        self,
        user: str | None = None,
        client: ClientLibrary = "confluent-kafka",
        mechanism: str | None = None,
        contents: bool = False,
        listener: str | None = None,
    ) -> dict[str, Any]:
        """As KafkaDouble.client_config: the given settings, in the form of a library. Raises
        UsageError for a user, a mechanism or a listener that they do not name."""
        return given_client_config(self._bootstrap, self._client, user, client, mechanism, contents, listener)

    def close(self) -> None:
        """Closes the connections."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Kafka at {self.bootstrap_servers}, by --kafka-broker={self.target}>"


def remote_of(kafka: RealKafka) -> RemoteCluster:
    """The state of a Kafka, as requests read it."""
    return kafka._remote


for _name in ONLY_ON_DOUBLE:
    setattr(RealKafka, _name, OnlyOnDoubleAttribute(_name))
for _name in OWN_KAFKA:
    setattr(RealKafka, _name, OnlyOnDoubleAttribute(_name, "a Kafka that was started on this machine"))
