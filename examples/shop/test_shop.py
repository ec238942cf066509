"""The suite of the shop: the same tests on a double and on a real Kafka. Tests that need a double
are skipped on a real Kafka, at the line that needs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest
from confluent_kafka import KafkaException, Producer

from examples.shop.outbox import ORDERS
from examples.shop.packer import LATER, NEVER, PACK
from examples.shop.worker import DEAD_LETTERS, INVOICES
from kafkadouble import KafkaDouble, KafkaError

if TYPE_CHECKING:
    from examples.shop.conftest import Shop

PEARS, PLUMS = '{"item": "pear", "price": 2, "count": 3}', '{"item": "plum", "price": 1, "count": 9}'
COMMITTED: Final = "read_committed"


def test_relay_sends_each_row(shop: Shop) -> None:
    shop.outbox.add("ann", PEARS)
    assert shop.outbox.relay() == 1
    (record,) = shop.kafka.wait_for_records(ORDERS)
    assert (record.key, record.header("source"), record.json()["item"]) == (b"ann", b"outbox", "pear")


def test_relay_keeps_the_order_of_the_rows(shop: Shop) -> None:
    for number in range(20):
        shop.outbox.add("ann", str(number))
    shop.outbox.relay()
    assert [record.text() for record in shop.kafka.records(ORDERS)] == [str(number) for number in range(20)]


def test_second_relay_sends_nothing(shop: Shop) -> None:
    shop.outbox.add("ann", PEARS)
    assert (shop.outbox.relay(), shop.outbox.relay()) == (1, 0)
    assert shop.kafka.end_offsets(ORDERS) == {0: 1}


def test_relay_of_an_empty_outbox_sends_nothing(shop: Shop) -> None:
    assert shop.outbox.relay() == 0
    assert shop.kafka.end_offsets(ORDERS) == {0: 0}


def test_relay_after_a_restart_of_the_broker(shop: Shop) -> None:
    shop.outbox.add("ann", PEARS)
    shop.outbox.relay()
    shop.kafka.down()
    shop.outbox.add("bob", PLUMS)
    shop.kafka.up()
    assert shop.outbox.relay() == 1
    assert [record.key for record in shop.kafka.records(ORDERS)] == [b"ann", b"bob"]


def test_relay_within_a_quota(shop: Shop) -> None:
    shop.kafka.set_quota(client_id="outbox", producer_byte_rate=1_000_000)
    shop.outbox.add("ann", PEARS)
    assert shop.outbox.relay() == 1
    shop.kafka.remove_quota(client_id="outbox")


def test_lost_answer_does_not_send_a_row_twice(shop: Shop) -> None:
    shop.kafka.drop_answer("Produce", times=1)
    shop.outbox.add("ann", PEARS)
    assert shop.outbox.relay() == 1
    assert len(shop.kafka.records(ORDERS)) == 1


def test_row_that_is_refused_stays(shop: Shop) -> None:
    shop.kafka.fail("Produce", "MESSAGE_TOO_LARGE", times=1)
    shop.outbox.add("ann", PEARS)
    assert shop.outbox.relay() == 0
    assert shop.outbox.relay() == 1


def test_order_becomes_an_invoice(shop: Shop) -> None:
    shop.order(PEARS)
    shop.worker().work()
    (invoice,) = shop.kafka.wait_for_records(INVOICES, isolation=COMMITTED)
    assert (invoice.key, invoice.json()) == (b"ann", {"item": "pear", "total": 6})


def test_orders_are_handled_in_order(shop: Shop) -> None:
    shop.order(PEARS, PLUMS, PEARS)
    shop.worker().work(3)
    records = shop.kafka.wait_for_records(INVOICES, 3, isolation=COMMITTED)
    assert [record.json()["total"] for record in records] == [6, 9, 6]


def test_worker_commits_its_offset_with_the_invoice(shop: Shop) -> None:
    shop.order(PEARS, PLUMS)
    shop.worker().work(2)
    group = shop.kafka.wait_for_group("workers", "Stable", members=1, lag=0)
    assert group.offsets[ORDERS, 0].offset == 2


def test_broken_order_is_a_dead_letter(shop: Shop) -> None:
    shop.order("no JSON")
    shop.worker().work()
    (dead,) = shop.kafka.wait_for_records(DEAD_LETTERS, isolation=COMMITTED)
    assert (dead.value, dead.header("reason"), dead.header("offset")) == (b"no JSON", b"JSONDecodeError", b"0")
    assert shop.kafka.records(INVOICES) == []


def test_worker_goes_on_after_a_dead_letter(shop: Shop) -> None:
    shop.order('{"item": "pear"}', PLUMS)
    shop.worker().work(2)
    assert shop.kafka.wait_for_records(DEAD_LETTERS)[0].header("reason") == b"KeyError"
    assert shop.kafka.wait_for_records(INVOICES)[0].json()["item"] == "plum"


def test_invoice_is_hidden_until_the_commit(shop: Shop) -> None:
    shop.order(PEARS)
    worker = shop.worker()
    worker.begin()
    assert len(shop.kafka.records(INVOICES)) == 1
    assert shop.kafka.records(INVOICES, isolation=COMMITTED) == []
    assert shop.kafka.transactions()["worker"].state == "Ongoing"
    worker.commit()
    assert len(shop.kafka.wait_for_records(INVOICES, isolation=COMMITTED)) == 1


def test_transaction_is_complete(shop: Shop) -> None:
    shop.order(PEARS)
    shop.worker().work()
    assert shop.kafka.wait_for_transaction("worker", "CompleteCommit").partitions == ()


def test_order_of_an_aborted_transaction_is_handled_again(shop: Shop) -> None:
    shop.order(PEARS)
    first = shop.worker()
    first.begin()
    first.give_up()
    first.close()
    shop.worker().work()
    assert len(shop.kafka.wait_for_records(INVOICES, isolation=COMMITTED)) == 1
    assert len(shop.kafka.records(INVOICES)) == 2


def test_replaced_worker_is_fenced(shop: Shop) -> None:
    shop.order(PEARS)
    zombie = shop.worker()
    zombie.begin()
    shop.worker()
    with pytest.raises(KafkaException, match=r"FENCED|EPOCH"):
        zombie.commit()
    assert shop.kafka.records(INVOICES, isolation=COMMITTED) == []


def test_next_worker_begins_where_the_last_ended(shop: Shop) -> None:
    shop.order(PEARS)
    first = shop.worker()
    first.work()
    first.close()
    shop.order(PLUMS)
    shop.worker().work()
    records = shop.kafka.wait_for_records(INVOICES, 2, isolation=COMMITTED)
    assert [record.json()["item"] for record in records] == ["pear", "plum"]


def test_orders_are_handled_again_after_a_reset_of_offsets(shop: Shop) -> None:
    shop.order(PEARS)
    first = shop.worker()
    first.work()
    first.close()
    shop.kafka.wait_for_group("workers", "Empty")
    assert shop.kafka.reset_offsets("workers", ORDERS, "earliest") == {(ORDERS, 0): 0}
    shop.worker().work()
    assert len(shop.kafka.wait_for_records(INVOICES, 2)) == 2


def test_expired_transaction_leaves_no_invoice(shop: Shop) -> None:
    shop.order(PEARS)
    worker = shop.worker()
    worker.begin()
    shop.kafka.expire_transaction("worker")
    with pytest.raises(KafkaException):
        worker.commit()


def test_coordinator_that_is_loading_delays_the_commit(shop: Shop) -> None:
    shop.order(PEARS)
    rule = shop.kafka.fail("EndTxn", "COORDINATOR_LOAD_IN_PROGRESS", times=1)
    shop.worker().work()
    shop.kafka.wait_for_rule(rule)
    assert len(shop.kafka.records(INVOICES, isolation=COMMITTED)) == 1


def test_notifier_tells_each_customer_once(shop: Shop) -> None:
    shop.invoice("ann", "bob")
    notifier = shop.notifier()
    assert notifier.tell(2) == ["ann", "bob"]
    assert shop.kafka.wait_for_group("notifiers", lag=0).offsets[INVOICES, 0].offset == 2


def test_notifiers_are_a_group_of_the_new_protocol(shop: Shop) -> None:
    notifier = shop.notifier()
    shop.invoice("ann")
    notifier.tell(1)
    group = shop.kafka.wait_for_group("notifiers", "Stable", members=1)
    assert (group.type, group.members[0].assignment) == ("consumer", ((INVOICES, 0), (INVOICES, 1)))


def test_invoices_wait_for_a_notifier(shop: Shop) -> None:
    shop.kafka.commit_offsets("notifiers", {(INVOICES, 0): 0})
    shop.invoice("ann", "bob")
    assert shop.kafka.groups()["notifiers"].lag == 2


def test_notifier_begins_at_the_committed_offset(shop: Shop) -> None:
    shop.invoice("ann", "bob")
    shop.kafka.commit_offsets("notifiers", {(INVOICES, 0): 1})
    assert shop.notifier().tell(1) == ["bob"]


def test_group_without_notifiers_is_empty(shop: Shop) -> None:
    shop.invoice("ann")
    notifier = shop.notifier()
    notifier.tell(1)
    notifier.close()
    shop.kafka.wait_for_group("notifiers", "Empty", members=0)
    shop.kafka.delete_group("notifiers")
    assert "notifiers" not in shop.kafka.groups()


def test_packer_packs_each_order(shop: Shop) -> None:
    shop.order("one", "two", "three")
    assert sorted(shop.packer().pack(3)) == ["one", "three", "two"]
    assert shop.kafka.groups()["packers"].type == "share"


def test_order_that_is_given_back_comes_again(shop: Shop) -> None:
    shop.order("one")
    packer = shop.packer(lambda message: PACK if message.delivery_count() > 1 else LATER)
    assert packer.pack(2) == ["one", "one"]


def test_order_that_is_rejected_does_not_come_again(shop: Shop) -> None:
    shop.order("poison", "two")
    packer = shop.packer(lambda message: NEVER if message.value() == b"poison" else PACK)
    packer.pack(2)
    packer.poll()
    assert sorted(packer.seen) == ["poison", "two"]


@pytest.mark.kafka_double(config={"auto.create.topics.enable": False})
def test_topic_that_is_missing_is_not_created(kafka_double: KafkaDouble) -> None:
    with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        kafka_double.produce("order", PEARS)


@pytest.mark.kafka_double(
    security="SASL_PLAINTEXT", users={"ann": "secret"}, acls=["User:ann allow WRITE,DESCRIBE topic:orders"]
)
def test_customer_writes_only_what_is_allowed(kafka_double: KafkaDouble) -> None:
    for topic in (ORDERS, INVOICES):
        kafka_double.create_topic(topic)
    errors: list[object] = []
    producer = Producer({**kafka_double.client_config("ann"), "log_level": 0})
    for topic in (ORDERS, INVOICES):
        producer.produce(topic, PEARS, on_delivery=lambda error, _: errors.append(error and error.name()))
        producer.flush()
    assert errors == [None, "TOPIC_AUTHORIZATION_FAILED"]
    assert json.loads(kafka_double.records(ORDERS)[0].value or b"")["item"] == "pear"


@pytest.mark.kafka_double(stepped=True, config={"log.retention.ms": 60_000})
def test_old_orders_are_deleted(kafka_double: KafkaDouble) -> None:
    kafka_double.create_topic(ORDERS)
    kafka_double.produce(ORDERS, PEARS)
    kafka_double.roll(ORDERS, 0)
    kafka_double.advance(61)
    assert kafka_double.retain(ORDERS) == {0: 1}
