"""Features, quotas, credentials and ACLs with several controllers: the leader decides, and answers
only what is committed; a new leader continues from there; a feature level can be raised while the
quorum runs (KIP-584, KIP-778, KIP-853, KIP-919)."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest
from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.update_features import UpdateFeaturesRequest
from kafkadouble.server.logs.logs import Logs
from kafkadouble.server.logs.memory import MemoryLogs
from kafkadouble.server.metadata.image import Image
from kafkadouble.server.tracing.history import errors_in
from tests.server.controllers import Controllers
from tests.server.metadata.cluster_story import made
from tests.server.security.acl_requests import STANDARD

MV, KRAFT, GROUPS = "metadata.version", "kraft.version", "group.version"
UP, SAFE = 1, 2


class Older(Controllers):
    """Controllers of a cluster that was formatted for an older release."""

    def __init__(self, count: int, level: int) -> None:
        self.level = level
        super().__init__(count)

    def _new_logs(self, id: int) -> Logs:
        logs = MemoryLogs()
        logs.cluster_id, logs.bootstrap = "a-cluster", [made("FeatureLevelRecord", name=MV, feature_level=self.level)]
        return logs


def update(*requested: tuple[str, int, int]) -> UpdateFeaturesRequest:
    updates = [
        UpdateFeaturesRequest.FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
        for name, level, kind in requested
    ]
    return UpdateFeaturesRequest(feature_updates=updates)


def quota(value: float) -> AlterClientQuotasRequest:
    of = AlterClientQuotasRequest
    entity = [of.EntityData(entity_type="user", entity_name="u")]
    return of(
        entries=[of.EntryData(entity=entity, ops=[of.OpData(key="request_percentage", value=value, remove=False)])]
    )


def acl() -> CreateAclsRequest:
    creation = CreateAclsRequest.AclCreation(
        resource_type=2, resource_name="t", principal="User:a", host="*", operation=3, permission_type=3
    )
    return CreateAclsRequest(creations=[creation])


def contents(image: Image) -> Any:
    return image._replace(end=None)  # type: ignore[arg-type]


def all_the_same(controllers: Controllers) -> bool:
    images = [contents(node.controller.image) for node in controllers.nodes.values()]
    return all(image == images[0] for image in images)


@pytest.mark.parametrize("level", [7, 14, 16, 22])
def test_a_level_is_raised_under_a_running_quorum_and_every_node_registers(level: int) -> None:
    controllers = Older(3, level)
    leader = controllers.elect()
    assert len(leader.controller.image.controllers) == (3 if level >= 15 else 0)
    assert controllers.ask(leader, update((MV, 33, UP)), 2).error_code == 0
    controllers.until(lambda: len(leader.controller.image.controllers) == 3)
    controllers.elect()
    assert all_the_same(controllers)
    assert controllers.ask(leader, update((MV, 33, UP), (GROUPS, 1, UP)), 2).error_code == 0
    controllers.kill(leader.id)
    controllers.until(lambda: any(node.controller.leads for node in controllers.nodes.values()))
    assert dict(controllers.leader.controller.draft.features) == {MV: 33, GROUPS: 1}


def test_a_controller_that_has_not_registered_holds_a_feature_back() -> None:
    controllers = Older(3, 14)
    leader = controllers.elect()
    away = next(id for id in controllers.ids if id != leader.id)
    controllers.kill(away)
    assert controllers.ask(leader, update((MV, 15, UP)), 2).error_code == 0
    controllers.until(lambda: len(leader.controller.image.controllers) == 2)
    answer = controllers.ask(leader, update((MV, 33, UP)), 2)
    assert answer.error_code == error_codes.INVALID_UPDATE_VERSION
    assert answer.error_message.endswith(f" controller {away} has not registered, and may not support this feature")
    controllers.restart(away)
    controllers.until(lambda: len(leader.controller.image.controllers) == 3)
    assert controllers.ask(leader, update((MV, 33, UP)), 2).error_code == 0


def test_the_quorums_version_is_raised_and_outlives_its_leader() -> None:
    controllers = Controllers(3)
    leader = controllers.elect()
    assert {node.quorum.replica.kraft_version for node in controllers.nodes.values()} == {0}
    controllers.until(lambda: controllers.ask(leader, update((KRAFT, 1, UP)), 2).error_code == 0)
    controllers.elect()
    assert {node.quorum.replica.kraft_version for node in controllers.nodes.values()} == {1}
    controllers.kill(leader.id)
    controllers.until(lambda: any(node.controller.leads for node in controllers.nodes.values()))
    assert controllers.leader.quorum.replica.kraft_version == 1
    assert sorted(controllers.leader.quorum.replica.voters.ids) == controllers.ids
    answer = controllers.ask(controllers.leader, update((KRAFT, 0, SAFE)), 2)
    assert answer.error_code == error_codes.INVALID_UPDATE_VERSION


def test_a_decision_builds_on_those_before_it_and_is_answered_with_them() -> None:
    """The second request changes nothing, since the first is decided. Still it is not answered
    before the first is committed."""
    controllers = Controllers(3)
    leader = controllers.elect()
    controllers.cut.update(id for id in controllers.ids if id != leader.id)
    answers: list[Any] = []
    for _ in range(2):
        controllers.submit(leader, quota(5.0), 1, answers.append)
    end = leader.controller.draft.end
    assert len(leader.controller.draft.quotas) == 1
    controllers.step(200)
    assert (answers, len(leader.controller.image.quotas)) == ([], 0)
    controllers.cut.clear()
    controllers.until(lambda: len(answers) == 2)
    assert [answer.entries[0].error_code for answer in answers] == [0, 0]
    assert leader.controller.image.end == end


def test_uncommitted_update_of_isolated_leader_is_not_answered() -> None:
    controllers = Controllers(3, STANDARD)
    old = controllers.elect()
    controllers.cut.add(old.id)
    answers: list[Any] = []
    for request, version in ((quota(5.0), 1), (acl(), 3), (update((GROUPS, 0, SAFE)), 2)):
        controllers.submit(old, request, version, answers.append)
    controllers.until(lambda: len(answers) == 3)
    assert [errors_in(answer) for answer in answers] == [("NOT_CONTROLLER",)] * 3
    controllers.cut.clear()
    controllers.until(lambda: controllers.elect() is not None)
    for node in controllers.nodes.values():
        assert len(node.controller.image.quotas) + len(node.controller.image.acls) == 0
        assert node.controller.image.features[GROUPS] == 1
