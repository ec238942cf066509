"""DeleteAcls with many filters among many ACLs: work that grows as their sum, in slices."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.delete_acls import DeleteAclsRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.image import EMPTY, Acl, Image
from kafkadouble.server.metadata.persistent_map import PersistentMap
from kafkadouble.server.requests.waiting import SLICE
from kafkadouble.server.security.acl_filter_index import AclFilterIndex
from kafkadouble.server.security.acl_index import AclIndex
from kafkadouble.server.security.acls import matching_acls
from tests.server.harness import Harness
from tests.server.security.acl_requests import STANDARD
from tests.support.executed_lines import LINEAR, CountedText, growth
from tests.support.slices import all_slices

from .acl_requests import acl_filter, after, creation, delete_acls
from .random_acls import NAMES, random_acl


def uuid(number: int) -> Uuid:
    return Uuid(number.to_bytes(16, "big"))


def image_with(size: int) -> Image:
    acls = PersistentMap[Uuid, Acl]()
    for number in range(size):
        acls = acls.set(uuid(number), Acl(2, f"t{number}", 3 + number % 2, f"User:{number}", "*", 3, 3))
    return EMPTY._replace(acls=acls)


@pytest.mark.parametrize(
    "fields",
    [
        {"principal_filter": "User:nobody", "host_filter": "*", "operation": 3},
        {"resource_name_filter": "u", "pattern_type_filter": 2},
        {"resource_name_filter": "t1", "pattern_type_filter": 3},
    ],
)
def test_twice_the_filters_among_twice_the_acls_take_twice_the_lines(fields: dict[str, Any]) -> None:
    def work(size: int) -> Callable[[], Any]:
        image, filters = image_with(size), [acl_filter(**fields) for _ in range(size)]
        return lambda: delete_acls(image, filters)

    assert growth(work, 200) <= LINEAR


def test_removing_half_of_twice_the_acls_of_a_resource_takes_twice_the_lines() -> None:
    def work(size: int) -> Callable[[], Any]:
        kept = acls = PersistentMap[Uuid, Acl]()
        for number in range(2 * size):
            acls = acls.set(uuid(number), Acl(2, "t", 3, "User:a", CountedText(f"h{number}"), 3, 3))
            kept = acls if number < size else kept
        index = AclIndex()
        index.follow(acls)
        return lambda: index.follow(kept)

    assert growth(work, 200) <= LINEAR


@pytest.mark.parametrize("seed", range(10))
def test_the_index_finds_what_a_look_at_every_acl_finds(seed: int) -> None:
    chance = random.Random(seed)
    acls = PersistentMap[Uuid, Acl]()
    for number in range(60):
        acls = acls.set(uuid(number), random_acl(chance))
    image, index = EMPTY._replace(acls=acls), AclFilterIndex(acls)
    for _ in range(300):
        requested = acl_filter(
            resource_type_filter=chance.choice((1, 2, 3)),
            resource_name_filter=chance.choice((None, "", *NAMES)),
            pattern_type_filter=chance.choice((1, 2, 3, 4)),
            principal_filter=chance.choice((None, None, "User:ann")),
            host_filter=chance.choice((None, None, "*")),
            operation=chance.choice((1, 2, 3)),
            permission_type=chance.choice((1, 1, 2, 3)),
        )
        assert index.matching(requested) == all_slices(matching_acls(image, requested))


def test_delete_acls_with_many_filters_lets_others_run_between() -> None:
    cluster = Harness(STANDARD)
    cluster.submit(CreateAclsRequest(creations=[creation()]), 3)
    filters = [acl_filter(host_filter="x") for _ in range(3 * SLICE)] + [acl_filter()]
    pending = cluster.begin(DeleteAclsRequest(filters=filters), 3)
    answered_at_once = pending.done
    assert not answered_at_once
    cluster.submit(CreateAclsRequest(creations=[creation(host="later")]), 3)
    assert cluster.submit(DeleteAclsRequest(filters=[acl_filter(host_filter="*")]), 3).filter_results[0].matching_acls
    while not pending.done:
        cluster.node.tick(cluster.now)
    *others, last = pending.response.filter_results
    assert [acl.host for acl in last.matching_acls] == ["later"], "what there was when it was deleted"
    assert not any(other.matching_acls for other in others)
    assert not cluster.image.acls


def test_an_acl_that_two_filters_match_counts_once_as_a_removal() -> None:
    image = after(EMPTY, *(creation(host=str(number)) for number in range(3)))
    assert len(delete_acls(image, [acl_filter(), acl_filter(host_filter="1")]).records) == 3
