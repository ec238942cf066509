"""Measures records per second over TLS through confluent-kafka, and without TLS, beside a real
Kafka.

    python -m benchmarks.tls [--records 300000] [--rounds 5] [--json]

Goals: over SSL produce and consume at 0.9 of the real Kafka's rate or more, and use no more server
CPU. Records have 100 bytes, in one partition. The rounds are interleaved: each has a turn of every
server and protocol. The certificates have keys of the curve P-256, and all agree on TLS 1.3. The
rows `SSL / PLAINTEXT` are the ratio of both protocols on one server, round by round.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from interop import quorum
from interop.local.cluster import Kafka
from interop.local.java import FULL
from interop.local.node import Node, finished
from interop.quorum import CLIENTS, CONTROLLER, Seat
from interop.real_kafka import Missing
from kafkadouble.access.certificates import Certificates
from tests.support.ports import HOST, free_ports

from . import report, servers
from .throughput import consume, create, produce

TLS = "SSL"
PROTOCOLS = (CLIENTS, TLS)
CASES = ("produce", "consume", "produce_cpu", "consume_cpu")


class Endpoint(NamedTuple):
    """Where one server is reached by one protocol. `settings` are those of clients."""

    bootstrap: str
    pid: int
    settings: Mapping[str, Any]


Runs = dict[str, list[float]]
"""A figure of each round, by case and protocol."""


def client_settings(certificates: Certificates, protocol: str) -> Mapping[str, Any]:
    if protocol != TLS:
        return {}
    return {"security.protocol": TLS, "ssl.ca.location": str(certificates.authority_file)}


def store_settings(certificates: Certificates) -> dict[str, str]:
    """The settings of both servers."""
    pair, own = certificates.of_brokers(), certificates.directory / "broker.pem"
    own.write_text(pair.key + pair.certificate)
    return {
        "listener.security.protocol.map": f"{CLIENTS}:PLAINTEXT,{CONTROLLER}:PLAINTEXT,{TLS}:SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(own),
    }


@contextmanager
def ours(certificates: Certificates) -> Iterator[dict[str, Endpoint]]:
    """A kafkadouble in memory, by protocol."""
    addresses = {name: f"{HOST}:{port}" for name, port in zip(PROTOCOLS, free_ports(len(PROTOCOLS)), strict=True)}
    listeners = ",".join(f"{name}://{address}" for name, address in addresses.items())
    given = {**store_settings(certificates), "listeners": listeners}
    words = [word for name, value in given.items() for word in ("-c", f"{name}={value}")]
    with servers.ours(*words, port=None) as (_, pid):
        yield {name: Endpoint(addresses[name], pid, client_settings(certificates, name)) for name in PROTOCOLS}


@contextmanager
def kafka(certificates: Certificates) -> Iterator[dict[str, Endpoint]]:
    """An Apache Kafka, by protocol. Raises Missing."""
    names = (*PROTOCOLS, CONTROLLER)
    addresses = {name: (HOST, port) for name, port in zip(names, free_ports(len(names)), strict=True)}
    seat = Seat(1, ("broker", "controller"), addresses, addresses)
    with tempfile.TemporaryDirectory() as folder:
        settings = {**quorum.settings(seat, [seat], f"{folder}/data"), **store_settings(certificates)}
        node = Node(seat, Kafka(flags=FULL), quorum.cluster_id(), Path(folder), settings)
        try:
            finished([node.formatting([])])
            node.start()
            yield {
                name: Endpoint("{}:{}".format(*addresses[name]), node.pid, client_settings(certificates, name))
                for name in PROTOCOLS
            }
        finally:
            node.kill()


def measured(at: Endpoint, topic: str, records: int) -> dict[str, float]:
    """One turn: records per second, and server CPU in seconds per million records."""
    create(at.bootstrap, topic, settings=at.settings)
    before = servers.cpu_seconds(at.pid)
    producing = produce(at.bootstrap, topic, records, settings=at.settings)
    between = servers.cpu_seconds(at.pid)
    consuming = consume(at.bootstrap, topic, records, settings=at.settings)
    after = servers.cpu_seconds(at.pid)
    cpu = [(end - begin) * 1e6 / records for begin, end in ((before, between), (between, after))]
    return dict(zip(CASES, (records / producing, records / consuming, *cpu), strict=True))


def measure(records: int, rounds: int) -> dict[str, Runs]:
    """The figures of every server; of a real Kafka only where it can run."""
    certificates, runs = Certificates("valid", ["localhost", HOST]), dict[str, Runs]()
    with ExitStack() as stack:
        stack.callback(certificates.close)
        running = {"ours": stack.enter_context(ours(certificates))}
        try:
            running["kafka"] = stack.enter_context(kafka(certificates))
        except Missing as why:
            report.note(f"no real Kafka to compare with: {why}")
        for turn in range(rounds + 1):
            for name, endpoints in running.items():
                for protocol, endpoint in endpoints.items():
                    found = measured(endpoint, f"tls-{turn}-{protocol}", records if turn else records // 5)
                    # The first round warms up.
                    for case, figure in found.items() if turn else ():
                        runs.setdefault(name, {}).setdefault(f"{case}, {protocol}", []).append(figure)
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    runs = measure(arguments.records, arguments.rounds)
    table = report.Table("tls", "records/s; cpu: server seconds a million records")
    for case in CASES:
        for protocol in PROTOCOLS:
            named = f"{case}, {protocol}"
            table.add_runs(named, runs["ours"][named], {name: of[named] for name, of in runs.items() if name != "ours"})
    for case in CASES:
        ratios = {name: _ratios(of, case) for name, of in runs.items()}
        peers = {name: values for name, values in ratios.items() if name != "ours"}
        table.add_runs(f"{case}, SSL / PLAINTEXT", ratios["ours"], peers)
    table.print(as_json=arguments.json)


def _ratios(runs: Runs, case: str) -> list[float]:
    pairs = zip(runs[f"{case}, {TLS}"], runs[f"{case}, {CLIENTS}"], strict=True)
    return [secured / plain for secured, plain in pairs]


if __name__ == "__main__":
    main()
