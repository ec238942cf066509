"""UpdateFeatures: every error in its order, downgrades at every level, and the nodes that must
support a level.
"""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.update_features import UpdateFeaturesRequest
from kafkadouble.server.controller.feature_control import FeatureUpdateResult, QuorumFeatures, update_features
from kafkadouble.server.metadata.image import EMPTY, Image
from kafkadouble.server.metadata.metadata_versions import NAMES
from kafkadouble.server.metadata.replay import replay
from kafkadouble.server.requests.request import Refusal
from tests.server.controller.small_clusters import after
from tests.server.metadata.cluster_story import made

MV, ELR, KRAFT = "metadata.version", "eligible.leader.replicas.version", "kraft.version"
UP, SAFE, UNSAFE = 1, 2, 3
LEVELS = sorted(NAMES)
CHANGED = {7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33}

ALONE = QuorumFeatures(1, frozenset({1}), 1)


def cluster(level: int = 33, *records: Any, **features: int) -> Image:
    levels = {MV: level, **{name.replace("_", "."): at for name, at in features.items()}}
    made_by = [made("FeatureLevelRecord", name=name, feature_level=at) for name, at in levels.items()]
    return after(EMPTY, [*made_by, *records])


def supporting(kind: str, id: int, **features: tuple[int, int]) -> Any:
    """A broker or a controller that can work with these."""
    record = made(f"Register{kind}Record")
    feature = type(record).BrokerFeature if kind == "Broker" else type(record).ControllerFeature
    setattr(record, f"{kind.lower()}_id", id)
    record.features = [
        feature(name=name.replace("_", "."), min_supported_version=low, max_supported_version=high)
        for name, (low, high) in features.items()
    ]
    return record


def ask(image: Image, *requested: tuple[str, int, int], quorum: QuorumFeatures = ALONE) -> FeatureUpdateResult:
    updates = [
        UpdateFeaturesRequest.FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
        for name, level, kind in requested
    ]
    return update_features(image, quorum, updates, 2)


def refused(image: Image, *requested: tuple[str, int, int], quorum: QuorumFeatures = ALONE) -> str:
    with pytest.raises(Refusal) as refusal:
        ask(image, *requested, quorum=quorum)
    assert refusal.value.code == error_codes.INVALID_UPDATE_VERSION
    assert refusal.value.message is not None
    return refusal.value.message


def level(name: str, at: int) -> Any:
    return made("FeatureLevelRecord", name=name, feature_level=at)


BOTH_WAYS = (
    "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade."
)


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        ((MV, 33, 0), "The controller does not support the given upgrade type."),
        ((MV, 33, 4), "The controller does not support the given upgrade type."),
        ((MV, -1, UP), "A feature version cannot be less than 0."),
        ((MV, 6, UP), "Local controller 1 only supports versions 7-33"),
        ((MV, 34, UP), "Local controller 1 only supports versions 7-33"),
        ((MV, 32, UP), BOTH_WAYS),
        (("no.such", 1, UP), "Local controller 1 does not support this feature."),
        (("no.such", 0, UP), "Feature no.such not found."),
        ((ELR, 2, UP), "Local controller 1 only supports versions 0-1"),
        ((ELR, 1, SAFE), "Can't downgrade to a newer version."),
        ((KRAFT, 0, UP), BOTH_WAYS),
        ((KRAFT, 0, SAFE), "Can't downgrade the version of this feature."),
        ((KRAFT, 0, UNSAFE), "Can't downgrade the version of this feature."),
        ((KRAFT, 2, UP), "Local controller 1 only supports versions 0-1"),
    ],
)
def test_feature_update_is_refused_with_its_reason(requested: tuple[str, int, int], message: str) -> None:
    assert (
        refused(cluster(), requested) == f"Invalid update version {requested[1]} for feature {requested[0]}. {message}"
    )


@pytest.mark.parametrize("current", LEVELS)
def test_metadata_version_goes_up_and_over_nothing_down(current: int) -> None:
    image = cluster(current)
    for target in LEVELS:
        if target >= current:
            assert ask(image, (MV, target, UP)) == FeatureUpdateResult([level(MV, target)])
        elif not any(target < each <= current for each in CHANGED):
            for kind in (SAFE, UNSAFE):
                assert ask(image, (MV, target, kind)) == FeatureUpdateResult([level(MV, target)])
        else:
            begin = f"Unsupported metadata.version downgrade from {current} to {target}. "
            safe = "Refusing to perform the requested downgrade because it might delete metadata information."
            unsafe = "Unsafe metadata downgrade is not supported in this version."
            assert refused(image, (MV, target, SAFE)) == begin + safe
            assert refused(image, (MV, target, UNSAFE)) == begin + unsafe


def test_every_broker_must_be_able_to_fenced_or_not() -> None:
    old = supporting("Broker", 5, metadata_version=(7, 25))
    image = cluster(20, supporting("Broker", 4, metadata_version=(7, 33)), old)
    assert ask(image, (MV, 25, UP)) == FeatureUpdateResult([level(MV, 25)])
    assert refused(image, (MV, 26, UP)).endswith(" Broker 5 only supports versions 7-25")
    assert refused(image, (ELR, 1, UP)).endswith(" Broker 4 does not support this feature.")


def test_every_controller_must_support_it_and_have_registered_so() -> None:
    three = QuorumFeatures(1, frozenset({1, 2, 3}), 1)
    mine, other = (supporting("Controller", id, metadata_version=(7, 7 + 20 * id)) for id in (1, 2))
    image = cluster(15, mine, other)
    assert refused(image, (MV, 33, UP), quorum=three).endswith(
        " controller 3 has not registered, and may not support this feature"
    )
    two = QuorumFeatures(1, frozenset({1, 2}), 1)
    assert ask(image, (MV, 33, UP), quorum=two) == FeatureUpdateResult([level(MV, 33)])
    lower = replay(image, supporting("Controller", 2, metadata_version=(9, 9)))
    assert refused(lower, (MV, 33, UP), quorum=two).endswith(" Controller 2 only supports versions 9")
    assert ask(lower._replace(features=cluster(14).features), (MV, 33, UP), quorum=three).records


def test_the_cluster_gets_one_min_insync_replicas_with_the_feature() -> None:
    def config(name: str, value: str | None, key: str = "min.insync.replicas") -> Any:
        return made("ConfigRecord", resource_type=4, resource_name=name, name=key, value=value)

    own = [config("1", "3"), config("2", "3", "log.retention.ms"), config("3", "1")]
    enabled = level(ELR, 1)
    assert ask(cluster(33, *own), (ELR, 1, UP)).records == [
        config("", "2"),
        config("1", None),
        config("3", None),
        enabled,
    ]
    assert ask(cluster(33, config("", "5")), (ELR, 1, UP)).records == [enabled]
    assert ask(cluster(33, *own), (ELR, 0, SAFE)).records == [level(ELR, 0)]
    assert ask(cluster(), (MV, 33, UP)).records == [level(MV, 33)]


def test_a_feature_depends_on_the_levels_that_the_request_leads_to() -> None:
    image = cluster(22)
    message = refused(image, (ELR, 1, UP))
    assert message.endswith(f"{ELR} could not be set to 1 because it depends on {MV} level 23")
    both = ask(image, (ELR, 1, UP), (MV, 23, UP)).records
    assert both[1:] == [level(ELR, 1), level(MV, 23)]
    assert ask(image, (ELR, 0, UP)).records == [level(ELR, 0)]


def test_the_quorums_own_version_is_raised_by_the_quorum() -> None:
    of_old = QuorumFeatures(1, frozenset({1}), 0)
    noop = made("NoOpRecord")
    assert ask(cluster(), (KRAFT, 1, UP), quorum=of_old) == FeatureUpdateResult([noop], 1)
    assert ask(cluster(), (KRAFT, 1, UP)) == FeatureUpdateResult([noop], 1)
    assert ask(cluster(), (KRAFT, 1, SAFE)) == FeatureUpdateResult([])
    assert ask(cluster(), (KRAFT, 1, UP), (MV, 33, UP), quorum=of_old) == FeatureUpdateResult([noop, level(MV, 33)], 1)


def test_feature_updates_succeed_together_or_fail() -> None:
    assert refused(cluster(), (MV, 33, UP), ("no.such", 1, UP)).startswith(
        "Invalid update version 1 for feature no.such."
    )
    assert ask(cluster(), (MV, 1, UP), (MV, 33, UP)) == FeatureUpdateResult([level(MV, 33)])
    assert ask(cluster()) == FeatureUpdateResult([])
