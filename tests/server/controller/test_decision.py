"""Decisions of the controller in slices: what other requests change between them."""

from __future__ import annotations

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest
from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.server.controller import decision
from kafkadouble.server.requests.waiting import SLICE
from tests.server.config_requests import incremental
from tests.server.harness import Harness, Pending
from tests.server.topic_requests import creating

MANY = 4 * SLICE


def many_topics() -> CreateTopicsRequest:
    return creating(*(f"t{number}" for number in range(MANY)))


def finish(cluster: Harness, pending: Pending) -> None:
    while not pending.done:
        cluster.tick(0)


def test_decision_is_written_whole_after_its_last_slice() -> None:
    cluster = Harness()
    pending = cluster.begin(many_topics(), 7)
    while not pending.done:
        assert not cluster.image.topics
        cluster.tick(0)
    assert len(cluster.image.topics) == MANY


def test_a_topic_that_another_request_creates_between_slices_is_not_created_twice() -> None:
    cluster = Harness()
    pending = cluster.begin(many_topics(), 7)
    assert not cluster.submit(creating("t0"), 7).topics[0].error_code
    finish(cluster, pending)
    codes = {result.name: result.error_code for result in pending.response.topics}
    assert codes.pop("t0") == error_codes.TOPIC_ALREADY_EXISTS
    assert not any(codes.values())
    assert len(cluster.image.topics) == MANY


def test_a_decision_that_is_overtaken_each_time_is_made_in_one_step_in_the_end() -> None:
    cluster = Harness()
    pending = cluster.begin(many_topics(), 7)
    for number in range(decision.MOST_TRIES * MANY):
        if pending.done:
            break
        cluster.submit(creating(f"other{number}"), 7)
        cluster.tick(0)
    assert pending.done
    assert not any(result.error_code for result in pending.response.topics)


def test_a_change_that_is_made_again_takes_from_the_mutation_quota_once() -> None:
    cluster = Harness()
    of = AlterClientQuotasRequest
    quota = of.OpData(key="controller_mutation_rate", value=float(MANY))
    client = of.EntityData(entity_type="client-id", entity_name="wide")
    cluster.submit(of(entries=[of.EntryData(entity=[client], ops=[quota])]), 1)
    before = cluster.begin(many_topics(), 7, "wide")
    cluster.submit(creating("t0"), 7)
    finish(cluster, before)
    mutations = cluster.node.quotas.controller_mutation
    bucket = mutations.sensors.get(mutations.callback.tags("ANONYMOUS", "wide"), cluster.now)
    burst = mutations.config.samples * MANY
    assert burst - bucket.measure(MANY, cluster.now) == MANY - 1


def test_a_topic_that_another_request_deletes_between_slices_gets_no_configuration() -> None:
    cluster = Harness()
    finish(cluster, cluster.begin(many_topics(), 7))
    resources = [(2, f"t{number}", {"retention.ms": "1000"}) for number in range(MANY)]
    configs = len(cluster.image.configs)
    pending = cluster.begin(incremental(*resources), 1)
    state = DeleteTopicsRequest.DeleteTopicState(name="t0")
    assert not cluster.submit(DeleteTopicsRequest(topics=[state], timeout_ms=1000), 6).responses[0].error_code
    finish(cluster, pending)
    codes = [response.error_code for response in pending.response.responses]
    assert codes == [error_codes.UNKNOWN_TOPIC_OR_PARTITION] + [0] * (MANY - 1)
    assert len(cluster.image.configs) == configs + MANY - 1


def test_an_acl_that_another_request_creates_between_slices_exists_once() -> None:
    cluster = Harness({"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"})
    of = CreateAclsRequest.AclCreation
    creations = [
        of(
            resource_type=2,
            resource_name=f"t{number}",
            resource_pattern_type=3,
            principal="User:a",
            host="*",
            operation=3,
            permission_type=3,
        )
        for number in range(MANY)
    ]
    cluster.peer.is_in_process = True
    pending = cluster.begin(CreateAclsRequest(creations=creations), 3)
    cluster.submit(CreateAclsRequest(creations=creations[:1]), 3)
    finish(cluster, pending)
    assert len(cluster.image.acls) == MANY
