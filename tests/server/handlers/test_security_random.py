"""Random requests about features, quotas, credentials, delegation tokens and ACLs, at two levels of
the metadata: none breaks a handler; the log and a snapshot both replay to the image, and
descriptions equal the image."""

from __future__ import annotations

import sys
from random import Random
from typing import Any

import pytest

from kafkadouble.messages.generated.describe_acls import DescribeAclsRequest
from kafkadouble.messages.generated.describe_client_quotas import DescribeClientQuotasRequest
from kafkadouble.messages.generated.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from kafkadouble.server import dispatch
from kafkadouble.server.apis.served import SERVED
from kafkadouble.server.controller.delegation_tokens import TokenSettings
from kafkadouble.server.logs.memory import MemoryLogs
from tests.server.handlers.random_requests import Maker
from tests.server.harness import DISCONNECT, Harness
from tests.server.images import image_of_log, image_of_snapshot
from tests.server.metadata.cluster_story import made
from tests.server.security.acl_requests import ANYTHING

APIS = (
    "AlterClientQuotas",
    "AlterUserScramCredentials",
    "CreateAcls",
    "CreateDelegationToken",
    "DeleteAcls",
    "DescribeAcls",
    "DescribeClientQuotas",
    "DescribeUserScramCredentials",
    "ExpireDelegationToken",
    "RenewDelegationToken",
    "UpdateFeatures",
)
WORDS = {
    "entity_type": ("user", "user", "client-id", "client-id", "ip", "group", ""),
    "entity_name": ("u", "u", "v", "", "1.2.3.4", "::1", "nowhere"),
    "match": ("u", "v", "1.2.3.4", ""),
    "key": ("producer_byte_rate", "request_percentage", "connection_creation_rate", "nope"),
    "name": ("alice", "bob", "carol", ""),
    "feature": ("metadata.version", "eligible.leader.replicas.version", "kraft.version", "nope"),
    "host": ("*", "10.0.0.0/8", "1.2.3.4/99", "h", ""),
    "principal": ("User:a", "User:b", "c", "User:*"),
    "principal_type": ("User", "User", "User", "Group"),
    "principal_name": ("ANONYMOUS", "ANONYMOUS", "a"),
    "owner_principal_type": ("User",),
    "owner_principal_name": ("ANONYMOUS", "ANONYMOUS", "a", ""),
}
OTHER_WORDS = ("t", "te", "test", "*", "kafka-cluster", "")
NUMBERS = {
    "iterations": (4095, 4096, 8192, 16384, 16385),
    "mechanism": (1, 1, 2, 2, 0, 3),
    "max_version_level": (0, 1, 1, 30, 32, 33, 33, 34, -1),
    "match_type": (0, 0, 1, 2, 3),
}
OTHER_NUMBERS = (1, 2, 2, 3, 3, 3, 4, 4, 5, 99)
AMOUNTS = (0.0, 0.5, 1.0, 5.0, 1e30, -1.0, float("inf"))
PERIODS = (-1, 0, 1, 5000, 5000, 10_000, 1 << 62)
PROOFS = TokenSettings(b"key", 0, 0)
SETTINGS: dict[str, object] = {
    "authorizer.class.name": "StandardAuthorizer",
    "delegation.token.secret.key": "key",
    "delegation.token.expiry.check.interval.ms": 1000,
}
REQUESTS = 1800


class Security(Maker):
    """Makes requests whose words and numbers mean something to these APIs."""

    def value(self, cls: Any, name: str, kind: str, version: int, null: bool, outer: Any) -> Any:
        choice, plain = self.random.choice, name.removesuffix("_filter")
        if kind == "string" and not (null and self.random.random() < 0.3):
            return choice(WORDS.get(plain, OTHER_WORDS))
        if name in ("max_lifetime_ms", "renew_period_ms", "expiry_time_period_ms"):
            return choice(PERIODS)
        if kind.startswith("int") and name != "timeout_ms":
            return choice(NUMBERS.get(name, OTHER_NUMBERS))
        if kind == "float64":
            return choice(AMOUNTS)
        if name == "hmac" and self.random.random() < 0.9:
            return PROOFS.proof(choice(sorted(self.cluster.image.tokens) or [""]))
        if kind == "bytes":
            return self.random.randbytes(choice((0, 4, 4, 4)))
        return super().value(cls, name, kind, version, null, outer)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("level", [7, 33])
def test_random_requests_break_nothing(seed: int, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def unforeseen(request: Any) -> None:
        raise AssertionError(f"seed {seed}: {request!r} broke its handler") from sys.exception()

    monkeypatch.setattr(dispatch, "unforeseen", unforeseen)
    logs = MemoryLogs()
    logs.bootstrap = [made("FeatureLevelRecord", name="metadata.version", feature_level=level)]
    cluster = Harness(SETTINGS, logs=logs)
    cluster.peer.may_ask_for_tokens = True
    seen = set[str]()
    maker = Security(Random(seed), cluster)
    served = {api.name: api for api in SERVED.values()}
    for _ in range(REQUESTS):
        api = served[maker.random.choice(APIS)]
        version = maker.random.randint(api.lowest, api.highest)
        assert cluster.submit(maker.struct(api.api.request, version), version) is not DISCONNECT
        seen.update(cluster.image.tokens)
        cluster.tick(maker.random.choice((0, 10, 100)))
    image = cluster.image
    assert image_of_log(cluster.node.controller.log.batches(0)) == image == image_of_snapshot(image)
    assert image.features["metadata.version"] == 33
    check_described(cluster)
    assert len(seen) > len(image.tokens) > 0, "some have ended, and some have not"


def check_described(cluster: Harness) -> None:
    """The answers describe everything that the image holds, and the image is not empty."""
    image = cluster.image
    quotas = cluster.submit(DescribeClientQuotasRequest(components=[]), 1).entries
    assert {tuple((part.entity_type, part.entity_name) for part in quota.entity) for quota in quotas} == {*image.quotas}
    users = cluster.submit(DescribeUserScramCredentialsRequest(users=None), 0).results
    described = {(user.user, info.mechanism) for user in users for info in user.credential_infos}
    assert described == {*image.scram}
    resources = cluster.submit(DescribeAclsRequest(**ANYTHING), 3).resources
    assert sum(len(resource.acls) for resource in resources) == len({*image.acls.values()})
    assert len(image.quotas) > 0
    assert len(image.scram) > 0
