"""A broker, a real client, and the requests between them.

    make demo        or, with kafkadouble and confluent-kafka installed:  python examples/demo.py

It starts a broker in this process, creates a topic, produces with an idempotent producer, reads
everything back in a consumer group with two members, makes the broker fail once, and shows the
requests that the broker received. The exit code is 0 when every record was read.
"""

import threading
import time
from collections import Counter

from confluent_kafka import Consumer, KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafkadouble import KafkaDouble

CITIES = ("Lisbon", "Oslo", "Porto", "Quito", "Riga", "Seoul")
COUNT = 600


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def create_topic(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic("weather", num_partitions=3)])["weather"].result(20)


def produce(bootstrap: str) -> Counter[int]:
    """Sends COUNT readings, and returns the number of records in each partition."""
    delivered: Counter[int] = Counter()

    def acknowledged(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            raise RuntimeError(f"not delivered: {error}")
        delivered[message.partition() or 0] += 1

    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "compression.type": "zstd"})
    for number in range(COUNT):
        city = CITIES[number % len(CITIES)]
        reading = f'{{"city": "{city}", "celsius": {number % 37}}}'
        producer.produce("weather", reading, key=city, headers={"unit": "celsius"}, on_delivery=acknowledged)
    producer.flush(30)
    return delivered


class Member(threading.Thread):
    """One consumer of the group. It runs until the group has read everything."""

    def __init__(self, bootstrap: str, name: str, seen: Counter[str], done: threading.Event) -> None:
        super().__init__()
        self.name, self.seen, self.done = name, seen, done
        self.count, self.partitions = 0, set[int]()
        self.consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "dashboards",
                "client.id": name,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )

    def run(self) -> None:
        self.consumer.subscribe(["weather"])
        while not self.done.is_set():
            messages = self.consumer.consume(100, timeout=0.2)
            for message in messages:
                self.count += 1
                self.partitions.add(message.partition() or 0)
                self.seen[(message.key() or b"").decode()] += 1
            if messages:
                self.consumer.commit(asynchronous=False)
            if sum(self.seen.values()) >= COUNT:
                self.done.set()
        self.consumer.close()


def consume(bootstrap: str) -> tuple[list[Member], Counter[str]]:
    seen: Counter[str] = Counter()
    done = threading.Event()
    members = [Member(bootstrap, f"dashboard-{letter}", seen, done) for letter in "ab"]
    for member in members:
        member.start()
    for member in members:
        member.join(60)
    return members, seen


def main() -> None:
    started = time.perf_counter()
    with KafkaDouble(
        config={"group.initial.rebalance.delay.ms": 500}
    ) as kafka:  # so that both members join the first rebalance
        took = (time.perf_counter() - started) * 1000
        heading(f"A broker at {kafka.bootstrap_servers}, {took:.0f} ms after the call")
        create_topic(kafka.bootstrap_servers)
        print("topic weather with 3 partitions, created by confluent-kafka")

        heading(f"{COUNT} records from an idempotent producer, one Produce answered with an error on purpose")
        kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER", times=1)
        delivered = produce(kafka.bootstrap_servers)
        for partition in range(3):
            records = kafka.records("weather", partition)
            print(
                f"  partition {partition}: {delivered[partition]:4} acknowledged, {len(records):4} in the log, ", end=""
            )
            print(f"the last is {records[-1].value.decode() if records and records[-1].value else 'none'}")

        heading("Read back by a group of two")
        members, seen = consume(kafka.bootstrap_servers)
        for member in members:
            print(f"  {member.name}: {member.count:4} records of partitions {sorted(member.partitions)}")
        print("  " + ", ".join(f"{city} {seen[city]}" for city in CITIES))

        heading("What the broker saw")
        counts = Counter((seen.client_id, seen.api) for seen in kafka.requests)
        clients = sorted({client for client, _ in counts})
        for client in clients:
            calls = ", ".join(f"{api} {count}" for (of, api), count in sorted(counts.items()) if of == client)
            print(f"  {client or '(no name)'}: {calls}")
        for name, group in kafka.groups().items():
            offsets = ", ".join(
                f"{topic}-{index} at {offset.offset}" for (topic, index), offset in sorted(group.offsets.items())
            )
            print(f"  group {name} has committed {offsets}")

    everything = sum(delivered.values()) == COUNT and sum(seen.values()) == COUNT
    heading("Every record came through once" if everything else "Records are missing")
    raise SystemExit(0 if everything else 1)


if __name__ == "__main__":
    main()
