"""Changes of quotas: what a change of some entities leaves is what the whole image gives."""

from __future__ import annotations

from random import Random
from typing import Any

from kafkadouble.messages.generated.client_quota_record import ClientQuotaRecord
from kafkadouble.messages.generated.end_transaction_record import EndTransactionRecord
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.metadata.image import EMPTY, Image
from kafkadouble.server.metadata.replay import replay
from kafkadouble.server.quotas.quota_managers import QuotaManagers
from tests.support.executed_lines import growth

KINDS = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate")
ENTITIES: tuple[dict[str, str | None], ...] = (
    {"user": "a"},
    {"user": None},
    {"client-id": "c"},
    {"client-id": None},
    {"user": "a", "client-id": "c"},
    {"ip": "10.0.0.1"},
    {"ip": None},
)


def record(entity: dict[str, str | None], key: str, *, remove: bool = False, value: float = 1.0) -> ClientQuotaRecord:
    parts = [ClientQuotaRecord.EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()]
    return ClientQuotaRecord(entity=parts, key=key, remove=remove, value=value)


def replayed(image: Image, records: list[Any]) -> Image:
    for record in records:
        image = replay(image, record)
    return image


def state(managers: QuotaManagers) -> list[object]:
    return [
        *((manager.callback._quotas, manager.callback.levels) for manager in managers._managers),
        managers._address_limits,
        managers.is_on,
    ]


def of_image(image: Image) -> QuotaManagers:
    managers = QuotaManagers(Settings(), lambda: 0)
    managers.update(image.quotas)
    return managers


def test_random_changes_leave_what_the_whole_image_gives() -> None:
    dice, image, managers = Random(7), EMPTY, QuotaManagers(Settings(), lambda: 0)
    managers.update(image.quotas)
    for _ in range(500):
        records: list[Any] = []
        for _ in range(dice.randrange(1, 4)):
            entity = dice.choice(ENTITIES)
            key = "connection_creation_rate" if "ip" in entity else dice.choice(KINDS)
            records.append(record(entity, key, remove=dice.random() < 0.5, value=dice.randrange(1, 9)))
        after = replayed(image, records)
        managers.image_changed(image, after, records)
        image = after
        assert state(managers) == state(of_image(image))


def test_the_last_batch_of_a_metadata_transaction_brings_all_its_quotas() -> None:
    managers = of_image(EMPTY)
    after = replayed(EMPTY, [record({"user": "a"}, "producer_byte_rate")])
    managers.image_changed(EMPTY, after, [EndTransactionRecord()])
    assert state(managers) == state(of_image(after))


def test_a_change_of_one_quota_costs_the_same_with_twice_the_quotas() -> None:
    def work(size: int) -> Any:
        before = replayed(EMPTY, [record({"user": f"u{number}"}, KINDS[0]) for number in range(size)])
        managers, change = of_image(before), [record({"user": "u0"}, KINDS[0], value=2.0)]
        after = replayed(before, change)
        return lambda: managers.image_changed(before, after, change)

    assert growth(work, 1000) <= 1.1
