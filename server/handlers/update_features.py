"""UpdateFeatures: raise or lower feature levels (KIP-584, KIP-778, KIP-1022, KIP-1170).

Either all updates are made or none.

Version 0 has a flag instead of the kind of change, and Kafka 4 ignores it: version 0 only raises.
From version 1 on `validate_only` gives the same response and changes nothing. Up to version 1 a
successful response has a result for every feature. `controller.feature_control` says which feature
fails and why. A raised kraft.version is in the quorum's log when the response is sent, like the
other features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse

from ..controller.feature_control import MIN_ISR, FeatureUpdateResult, QuorumFeatures, update_features
from ..metadata.features import SUPPORTED
from ..raft.reconfiguration import VoterChangeRefused
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

RESULTS_UP_TO = 1
"""The last version whose response has a result for each feature."""

NO_ERROR = "NONE"
"""The message that Kafka sends without an error."""

FAILED = "The update failed for all features since the following feature had an error: "


def answer(
    node: HandlerContext, request: Request[UpdateFeaturesRequest]
) -> UpdateFeaturesResponse | Wait[UpdateFeaturesResponse]:
    updated = _decided(node, request.body)
    response = UpdateFeaturesResponse(error_message=None)
    if request.version <= RESULTS_UP_TO:
        of = UpdateFeaturesResponse.UpdatableFeatureResult
        response.results = [of(feature=each.feature, error_message=NO_ERROR) for each in request.body.feature_updates]
    if request.body.validate_only:
        return node.controller.write([], response)
    if updated.kraft_version is not None:
        try:
            node.quorum.replica.raise_kraft_version(updated.kraft_version, node.now)
        except VoterChangeRefused as refused:
            reason = refused.message or error_codes.meaning(refused.code)
            raise Refusal(refused.code, f"{FAILED}{reason}") from None
    node.controller.commit(updated.records)
    node.controller.metadata_version_raised()
    return node.controller.write([], response)


def _decided(node: HandlerContext, body: UpdateFeaturesRequest) -> FeatureUpdateResult:
    image, replica = node.controller.draft, node.quorum.replica
    quorum = QuorumFeatures(node.id, frozenset(replica.voters.ids), replica.kraft_version, SUPPORTED)
    static = node.settings.altered({}, {})
    try:
        return update_features(image, quorum, body.feature_updates, static.int(MIN_ISR))
    except Refusal as refusal:
        raise Refusal(refusal.code, f"{FAILED}{refusal.message}") from None


def refuse(request: Request[UpdateFeaturesRequest], code: int, message: str | None) -> UpdateFeaturesResponse:
    return UpdateFeaturesResponse(error_code=code, error_message=message or error_codes.meaning(code))
