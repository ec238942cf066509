"""UpdateFeatures: raises or lowers feature levels, all of a request or none (KIP-584, KIP-778,
KIP-1022, KIP-1170).

This controller, every registered broker and every controller of the quorum must support a new
level; controllers register from metadata.version 15 on. metadata.version is lowered only across
levels that did not change records. kraft.version is only raised, and is in the quorum's control
records: the result names the new level, and the caller raises it before it writes the NoOpRecord.
Eligible leader replicas need a min.insync.replicas of the whole cluster: enabling the feature sets
it, and deletes the brokers' own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.messages.generated.no_op_record import NoOpRecord
from kafkadouble.messages.generated.update_features import UpdateFeaturesRequest
from kafkadouble.messages.message import Message

from ..metadata.features import ELR, METADATA_VERSION, SUPPORTED
from ..metadata.image import BROKER, Image
from ..metadata.metadata_versions import ELR_FROM
from ..metadata.record_versions import CONTROLLERS
from ..requests.request import Refusal

KRAFT_VERSION = "kraft.version"
MIN_ISR = "min.insync.replicas"

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3

LEVELS_WITH_RECORD_CHANGES = frozenset((7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33))
"""The levels of metadata.version that brought records, or fields of records: Kafka does not
downgrade across them.
"""

FEATURE_DEPENDENCIES: Mapping[tuple[str, int], Mapping[str, int]] = {(ELR, 1): {METADATA_VERSION: ELR_FROM}}
"""Feature and level -> the least levels of other features."""

NOT_SUPPORTED = (0, 0)

FeatureUpdate = UpdateFeaturesRequest.FeatureUpdateKey


class QuorumFeatures(NamedTuple):
    """This controller's id, the ids of all voters, the kraft.version, and the features that this
    controller supports.
    """

    node_id: int
    voters: frozenset[int]
    kraft_version: int
    supported: Mapping[str, tuple[int, int]] = SUPPORTED


class FeatureUpdateResult(NamedTuple):
    """The records, and the kraft.version to raise before they are written, if any."""

    records: list[Message]
    kraft_version: int | None = None


def update_features(
    image: Image, quorum: QuorumFeatures, requested: Iterable[FeatureUpdate], min_insync_replicas: int
) -> FeatureUpdateResult:
    """Handles UpdateFeatures. `min_insync_replicas` is the controller's static configuration.
    Refusal(INVALID_UPDATE_VERSION).
    """
    updates = {update.feature: update for update in requested}
    levels = {**image.features, **{name: update.max_version_level for name, update in updates.items()}}
    records: list[Message] = []
    raised = None
    for name, each in updates.items():
        current = quorum.kraft_version if name == KRAFT_VERSION else image.features.get(name, 0)
        level = each.max_version_level
        _check_update(image, quorum, each, current)
        if name == METADATA_VERSION:
            _check_downgrade(current, level, unsafe=each.upgrade_type == UNSAFE_DOWNGRADE)
        elif name == KRAFT_VERSION:
            if each.upgrade_type != UPGRADE and level != current:
                raise _invalid(name, level, "Can't downgrade the version of this feature.")
            if each.upgrade_type == UPGRADE:
                raised = level
                records.append(NoOpRecord())
            continue
        else:
            _check_dependencies(quorum, name, level, levels)
        records.append(FeatureLevelRecord(name=name, feature_level=level))
    if ELR in updates and updates[ELR].max_version_level > 0:
        records = [*_min_isr_records(image, min_insync_replicas), *records]
    return FeatureUpdateResult(records, raised)


def _check_update(image: Image, quorum: QuorumFeatures, requested: FeatureUpdate, current: int) -> None:
    """The checks that hold for every feature."""
    name, level = requested.feature, requested.max_version_level
    if requested.upgrade_type not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        raise _invalid(name, level, "The controller does not support the given upgrade type.")
    if level < 0:
        raise _invalid(name, level, "A feature version cannot be less than 0.")
    if problem := next(_unsupporting_nodes(image, quorum, name, level), None):
        raise _invalid(name, level, problem)
    if level < current and requested.upgrade_type == UPGRADE:
        message = "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade."
        raise _invalid(name, level, message)
    if level > current and requested.upgrade_type != UPGRADE:
        raise _invalid(name, level, "Can't downgrade to a newer version.")


def _unsupporting_nodes(image: Image, quorum: QuorumFeatures, name: str, level: int) -> Iterator[str]:
    """The nodes that do not support the level, as messages."""
    nodes: list[tuple[str, Mapping[str, tuple[int, int]]]] = [(f"Local controller {quorum.node_id}", quorum.supported)]
    nodes += [(f"Broker {id}", broker.features) for id, broker in sorted(image.brokers.items())]
    registered = image.features.get(METADATA_VERSION, 0) >= CONTROLLERS
    others = [(id, each) for id, each in sorted(image.controllers.items()) if id != quorum.node_id and registered]
    nodes += [(f"Controller {id}", controller.features) for id, controller in others]
    for node, features in nodes:
        low, high = features.get(name, NOT_SUPPORTED)
        if not low <= level <= high:
            span = str(low) if low == high else f"{low}-{high}"
            yield f"{node} only supports versions {span}" if high else f"{node} does not support this feature."
    if registered:
        for id in sorted(quorum.voters - {quorum.node_id} - dict(others).keys()):
            yield f"controller {id} has not registered, and may not support this feature"


def _check_downgrade(current: int, level: int, *, unsafe: bool) -> None:
    if any(level < each <= current for each in LEVELS_WITH_RECORD_CHANGES):
        reason = (
            "Unsafe metadata downgrade is not supported in this version."
            if unsafe
            else "Refusing to perform the requested downgrade because it might delete metadata information."
        )
        message = f"Unsupported metadata.version downgrade from {current} to {level}. {reason}"
        raise Refusal(error_codes.INVALID_UPDATE_VERSION, message)


def _check_dependencies(quorum: QuorumFeatures, name: str, level: int, levels: Mapping[str, int]) -> None:
    if name not in quorum.supported:
        # at level 0, which every node supports
        raise _invalid(name, level, f"Feature {name} not found.")
    for other, least in FEATURE_DEPENDENCIES.get((name, level), {}).items():
        if levels.get(other, 0) < least:
            raise _invalid(
                name, level, f"{name} could not be set to {level} because it depends on {other} level {least}"
            )


def _min_isr_records(image: Image, min_insync_replicas: int) -> Iterator[Message]:
    if MIN_ISR not in image.config_overrides(BROKER, ""):
        yield ConfigRecord(resource_type=BROKER, resource_name="", name=MIN_ISR, value=str(min_insync_replicas))
    for (kind, name), values in sorted(image.configs.items()):
        if kind == BROKER and name and MIN_ISR in values:
            yield ConfigRecord(resource_type=BROKER, resource_name=name, name=MIN_ISR, value=None)


def _invalid(name: str, level: int, reason: str) -> Refusal:
    return Refusal(error_codes.INVALID_UPDATE_VERSION, f"Invalid update version {level} for feature {name}. {reason}")
