"""The same requests to the controllers of a kafkadouble and of an Apache Kafka, on the controllers'
listeners, and inside Envelopes.

Differences must be in divergence.toml, and those in its section about controllers must occur, in
two plays: see `verdict`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kafkadouble.messages import error_codes, headers, registry
from kafkadouble.messages.generated.default_principal_data import DefaultPrincipalData
from kafkadouble.messages.generated.envelope import EnvelopeRequest
from kafkadouble.server.apis.served import ROWS
from tests.support.client import ask
from tests.support.values import plain

from . import verdict
from .brokers import Addresses
from .brokers import controllers as two_controllers
from .compare import RequestDifference, differences
from .divergence import CONTROLLERS, rows, sorted_out
from .envelopes import HERE
from .normal import Normal
from .play import Play, Report
from .request import body_of
from .script import SCRIPTS, by_settings
from .side import Side
from .verdict import Problem

pytestmark = pytest.mark.usefixtures("kafka_jars")

COMPARED = {
    *((name, version) for name in ("ApiVersions",) for version in range(6)),
    *(
        (name, version)
        for name in (
            *("DescribeCluster", "CreateTopics", "DeleteTopics", "CreatePartitions", "DescribeConfigs", "AlterConfigs"),
            *("IncrementalAlterConfigs", "DescribeQuorum", "AddRaftVoter", "RemoveRaftVoter"),
            *("BrokerRegistration", "BrokerHeartbeat", "UnregisterBroker", "AllocateProducerIds"),
            *("ControllerRegistration", "UnregisterController"),
            *("ElectLeaders", "AlterPartitionReassignments", "ListPartitionReassignments"),
            *("AlterPartition", "AssignReplicasToDirs"),
            *("CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken"),
            *(
                "DescribeDelegationToken",
                "DescribeUserScramCredentials",
                "DescribeAcls",
                "CreateAcls",
                "DeleteAcls",
                "Fetch",
            ),
            *("FetchSnapshot", "Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "UpdateRaftVoter", "UpdateFeatures"),
            *("AlterClientQuotas", "AlterUserScramCredentials", "Envelope", "SaslHandshake", "SaslAuthenticate"),
        )
        for version in range(
            registry.api_named(name).stable_versions[0], registry.api_named(name).stable_versions[1] + 1
        )
    ),
}
"""What scripts must have covered."""

ENOUGH = 500


# For brokers that could not be started; other problems have their second play.
@pytest.mark.flaky(reruns=1, rerun_except="AssertionError")
@pytest.mark.timeout(1200)
def test_differences_of_controllers_are_listed(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    report, found = verdict.of_two(tmp_path, played, problems)
    found.require(record_property, report.summary(), "controllers")


def played(folder: Path) -> Report:
    """All scripts, played to controllers of their own, with the settings of the scripts."""
    report = Report()
    folder.mkdir()
    for number, (controller_settings, paths) in enumerate(by_settings(SCRIPTS / "controllers")):
        with two_controllers(folder / f"{number}", controller_settings) as (ours, theirs):
            sides = Side("kafkadouble", ours), Side("Kafka", theirs)
            for path in paths:
                Play(path, *sides, report).run()
            for side in sides:
                side.begin(0)
    return report


def problems(report: Report) -> list[Problem]:
    others = [
        *(f"{api} v{version} is not compared" for api, version in sorted(COMPARED - report.versions.keys())),
        *([f"{len(report.distinct)} that differ are few"] if len(report.distinct) < ENOUGH else []),
    ]
    return verdict.of_report(report, rows(), [row for row in rows() if row.section == CONTROLLERS], others)


# Envelopes


@pytest.fixture(scope="module")
def controllers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    with two_controllers(tmp_path_factory.mktemp("controllers")) as found:
        yield found


PRINCIPAL = bytes(2) + DefaultPrincipalData(type="User", name="alice").encode(0)

INSIDE = """
CreateTopics:
  {timeoutMs: 5000, topics: [{name: forwarded, numPartitions: 1, replicationFactor: 1}, {name: "a b", numPartitions: 1, replicationFactor: 1}]}
DeleteTopics: {timeoutMs: 5000, topics: [{name: forwarded}, {name: nowhere}], topicNames: [forwarded, nowhere]}
CreatePartitions: {timeoutMs: 5000, topics: [{name: nowhere, count: 3, assignments: null}]}
AlterConfigs:
  {resources: [{resourceType: 2, resourceName: nowhere, configs: []}, {resourceType: 4, resourceName: "1", configs: [{name: any, value: x}]}]}
IncrementalAlterConfigs: {resources: [{resourceType: 2, resourceName: nowhere, configs: []}, {resourceType: 4, resourceName: "9", configs: []}]}
DescribeQuorum: {topics: [{topicName: __cluster_metadata, partitions: [{partitionIndex: 0}]}]}
AddRaftVoter: {clusterId: wrong, timeoutMs: 1000, voterId: 9, voterDirectoryId: 07R5amHmR32VDA6jHkGbTA, listeners: []}
RemoveRaftVoter: {clusterId: null, voterId: 9, voterDirectoryId: 07R5amHmR32VDA6jHkGbTA}
UnregisterBroker: {brokerId: 77}
UnregisterController: {controllerId: 77}
ElectLeaders: {electionType: 0, timeoutMs: 1000, topicPartitions: [{topic: nowhere, partitions: [0]}]}
AlterPartitionReassignments: {timeoutMs: 1000, topics: [{name: nowhere, partitions: [{partitionIndex: 0, replicas: [1]}]}]}
ListPartitionReassignments: {timeoutMs: 1000, topics: [{name: nowhere, partitionIndexes: [0]}]}
AlterClientQuotas: {entries: [{entity: [{entityType: user, entityName: a}], ops: [{key: nope, value: 1.0, remove: false}]}], validateOnly: true}
AlterUserScramCredentials: {deletions: [{name: unknown, mechanism: 1}], upsertions: []}
UpdateFeatures: {timeoutMs: 1000, featureUpdates: [{feature: nope, maxVersionLevel: 3, upgradeType: 1}], validateOnly: true}
AllocateProducerIds: {brokerId: 77, brokerEpoch: 1}
CreateDelegationToken:
  {ownerPrincipalType: User, ownerPrincipalName: bob, renewers: [{principalType: Group, principalName: carol}], maxLifetimeMs: -1}
RenewDelegationToken: {hmac: "0102", renewPeriodMs: -1}
ExpireDelegationToken: {hmac: "0102", expiryTimePeriodMs: -1}
"""
"""Forwarded requests, in each version. ACLs and delegation tokens need settings that the two
controllers do not have; the refusal of tokens is compared here, the rest in
`test_delegation_tokens`."""

FORWARDED: dict[str, Any] = yaml.safe_load(INSIDE)


def forward(address: str, data: bytes, principal: bytes | None = PRINCIPAL, client: bytes = HERE) -> dict[str, Any]:
    """The error code of the envelope, and the response inside it."""
    response = ask(
        address, EnvelopeRequest(request_data=data, request_principal=principal, client_host_address=client), 0
    )
    found: dict[str, Any] = {"envelope": error_codes.name(response.error_code), "correlation": None, "answer": None}
    if response.response_data is not None:
        key, version = (int.from_bytes(data[at : at + 2], signed=True) for at in (0, 2))
        correlation_id, answer = headers.read_response(bytes(response.response_data), key, version)
        found |= {"correlation": correlation_id, "answer": plain(answer)}
    return found


def frame(api: str, version: int) -> bytes:
    return b"".join(headers.write_request(body_of(api, version, FORWARDED[api]), 99, "a client", version))[4:]


@pytest.mark.parametrize("api", FORWARDED)
def test_forwarded_requests_are_answered_alike(controllers: Addresses, api: str) -> None:
    low, high = registry.api_named(api).stable_versions
    for version in range(low, high + 1):
        ours, theirs = (Normal().of(forward(address, frame(api, version))) for address in controllers)
        assert (theirs["envelope"], theirs["correlation"]) == ("NONE", 99)
        found = [
            RequestDifference("envelope", 0, api, version, each)
            for each in differences(ours["answer"], theirs["answer"])
        ]
        assert (ours["envelope"], ours["correlation"]) == ("NONE", 99)
        assert [str(each) for each in sorted_out(found, rows())[0]] == []


def test_forwarded_apis_are_all_compared() -> None:
    assert {row.name for row in ROWS if row.forwarded} - {"CreateAcls", "DeleteAcls"} == FORWARDED.keys()


WHOLE = frame("CreateTopics", 7)

WRONG: dict[str, tuple[bytes, bytes | None, bytes]] = {
    "no principal": (WHOLE, None, HERE),
    "an empty principal": (WHOLE, b"", HERE),
    "a principal of another version": (WHOLE, b"\0\1" + PRINCIPAL[2:], HERE),
    "a principal that is cut": (WHOLE, PRINCIPAL[:-3], HERE),
    "a principal with something behind it": (WHOLE, PRINCIPAL + b"xyz", HERE),
    "no address": (WHOLE, PRINCIPAL, b""),
    "an address of five bytes": (WHOLE, PRINCIPAL, bytes(5)),
    "an address of sixteen": (WHOLE, PRINCIPAL, bytes(15) + b"\1"),
    "no request": (b"", PRINCIPAL, HERE),
    "half a header": (WHOLE[:7], PRINCIPAL, HERE),
    "half a body": (WHOLE[:-4], PRINCIPAL, HERE),
    "something behind the body": (WHOLE + b"more", PRINCIPAL, HERE),
    "an unknown API": (b"\x7f\0" + WHOLE[2:], PRINCIPAL, HERE),
    "an unknown version": (WHOLE[:2] + b"\0\x63" + WHOLE[4:], PRINCIPAL, HERE),
    "a negative version": (WHOLE[:2] + b"\xff\xff" + WHOLE[4:], PRINCIPAL, HERE),
    "Metadata": (b"\0\3\0\x0c" + WHOLE[4:], PRINCIPAL, HERE),
    "ApiVersions": (b"\0\x12\0\3" + WHOLE[4:], PRINCIPAL, HERE),
    "an Envelope": (b"\0\x3a\0\0" + WHOLE[4:], PRINCIPAL, HERE),
    "everything": (b"", b"", b""),
    "address and request": (b"", PRINCIPAL, b""),
}


@pytest.mark.parametrize("case", WRONG)
def test_envelopes_that_are_odd_are_answered_alike(controllers: Addresses, case: str) -> None:
    ours, theirs = (forward(address, *WRONG[case])["envelope"] for address in controllers)
    assert ours == theirs
