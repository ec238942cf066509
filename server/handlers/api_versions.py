"""ApiVersions: the served APIs and their versions, and the features (KIP-35, KIP-511, KIP-584).

- From version 3 on, a client names its software. A name with characters other than letters, digits,
  dots and dashes is INVALID_REQUEST.
- Version 3 hides features whose lowest level is 0, because its clients cannot read a 0 there.
  Version 4 shows them.
- The connection answers a version that is not served in version 0, without reading the body
  (KIP-511).
- The APIs for metrics of clients are listed only where something takes them (KIP-714).
- Version 5 may carry the cluster id and node id of the intended node (KIP-1242). One without the
  other is INVALID_REQUEST. A different node is REBOOTSTRAP_REQUIRED, except on a listener of
  controllers.
- A response with an error has no lists.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest, ApiVersionsResponse

from ..apis.row import ServedApi
from ..metadata.features import SUPPORTED
from ..requests.request import Refusal, Request

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?\Z")

ANY_NODE = -1
SOFTWARE_FROM, LOWEST_ZERO_FROM = 3, 4
KRAFT_VERSION = "kraft.version"


def answer(node: HandlerContext, request: Request[ApiVersionsRequest]) -> ApiVersionsResponse:
    _note_software(request)
    _check_meant(node, request)
    if request.peer.authenticator is not None:
        request.peer.authenticator.on_api_versions()
    return ApiVersionsResponse(
        api_keys=[
            _range(served)
            for served in request.peer.apis.values()
            if not served.row.hidden or node.telemetry is not None
        ],
        supported_features=[
            ApiVersionsResponse.SupportedFeatureKey(name=name, min_version=low, max_version=high)
            for name, (low, high) in SUPPORTED.items()
            if low > 0 or request.version >= LOWEST_ZERO_FROM
        ],
        finalized_features_epoch=node.image.end.offset - 1,
        finalized_features=[
            ApiVersionsResponse.FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
            for name, level in sorted(_finalized(node).items())
        ],
    )


def _finalized(node: HandlerContext) -> dict[str, int]:
    """The finalized features that this node supports. `kraft.version` is stored in the quorum's own
    records; it is left out at level 0."""
    raft, supported = node.quorum.replica.kraft_version, SUPPORTED
    features = {name: level for name, level in node.image.features.items() if name in supported}
    return {**features, **({KRAFT_VERSION: raft} if raft else {})}


def _note_software(request: Request[ApiVersionsRequest]) -> None:
    if request.version < SOFTWARE_FROM:
        return
    name, version = request.body.client_software_name, request.body.client_software_version
    if not (SOFTWARE.match(name) and SOFTWARE.match(version)):
        raise Refusal(error_codes.INVALID_REQUEST)
    request.peer.software_name, request.peer.software_version = name, version


def _check_meant(node: HandlerContext, request: Request[ApiVersionsRequest]) -> None:
    body = request.body
    if body.cluster_id is None and body.node_id == ANY_NODE:
        return
    if body.cluster_id is None or body.node_id == ANY_NODE:
        raise Refusal(error_codes.INVALID_REQUEST)
    if (body.cluster_id, body.node_id) != (node.cluster_id, node.id) and not request.peer.is_at_controller:
        raise Refusal(error_codes.REBOOTSTRAP_REQUIRED)


def _range(served: ServedApi) -> ApiVersionsResponse.ApiVersion:
    return _shared_range(served.api.key, served.advertised_from, served.highest)


@cache
def _shared_range(api_key: int, low: int, high: int) -> ApiVersionsResponse.ApiVersion:
    """One object for all answers: the history keeps thousands of them."""
    return ApiVersionsResponse.ApiVersion(api_key=api_key, min_version=low, max_version=high)


def unsupported(apis: Mapping[int, ServedApi]) -> ApiVersionsResponse:
    """The response, in version 0, to a version that is not served: only the range of ApiVersions
    (KIP-511)."""
    return ApiVersionsResponse(
        error_code=error_codes.UNSUPPORTED_VERSION, api_keys=[_range(apis[ApiKeys.API_VERSIONS])]
    )
