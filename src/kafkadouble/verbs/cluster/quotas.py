"""The methods of KafkaDouble about client quotas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.brokers import quota_requests
from kafkadouble.common.marking import verb

if TYPE_CHECKING:
    from kafkadouble.host.host import Host


@verb
def set_quota(
    host: Host,
    user: str | None = None,
    client_id: str | None = None,
    ip: str | None = None,
    producer_byte_rate: float | None = None,
    consumer_byte_rate: float | None = None,
    request_percentage: float | None = None,
    controller_mutation_rate: float | None = None,
    connection_creation_rate: float | None = None,
) -> None:
    """Sets quotas of a user, of a client id, or of both together; or `connection_creation_rate`
    of an `ip`. `"<default>"` means every user, client id or `ip` without a quota of its own.
    Other quotas of the same entity stay. A client beyond its quota is throttled as by Apache
    Kafka.

    A client without authentication is the user ANONYMOUS. Rates are per second. Raises
    KafkaError(INVALID_REQUEST) for a value that Kafka refuses.
    """
    quotas = {
        "producer_byte_rate": producer_byte_rate,
        "consumer_byte_rate": consumer_byte_rate,
        "request_percentage": request_percentage,
        "controller_mutation_rate": controller_mutation_rate,
        "connection_creation_rate": connection_creation_rate,
    }
    quota_requests.check_entries(host.ask(quota_requests.to_set(user, client_id, ip, quotas)).entries)


@verb
def remove_quota(host: Host, user: str | None = None, client_id: str | None = None, ip: str | None = None) -> None:
    """Removes all quotas of a user, of a client id, of both together, or of an `ip`; does
    nothing if there are none."""
    quota_requests.check_entries(host.ask(quota_requests.to_remove(user, client_id, ip)).entries)
