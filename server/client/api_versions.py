"""The first step: ApiVersions, in an older version if the peer knows no newer one (KIP-35,
KIP-511)."""

from __future__ import annotations

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest

from .client_connection import NEWEST_API_VERSIONS, Versions
from .steps import ConnectionStep, Steps


class VersionsRefused(Exception):
    """The peer answers ApiVersions with an error, `code`."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def api_versions() -> Steps[Versions]:
    """The versions of the peer. Raises VersionsRefused."""
    answer = yield _request(NEWEST_API_VERSIONS)
    if answer.error_code == error_codes.UNSUPPORTED_VERSION:
        own = next((key.max_version for key in answer.api_keys if key.api_key == ApiKeys.API_VERSIONS), 0)
        answer = yield _request(max(0, min(own, NEWEST_API_VERSIONS - 1)))
    if answer.error_code:
        raise VersionsRefused(answer.error_code)
    return {key.api_key: (key.min_version, key.max_version) for key in answer.api_keys}


def _request(version: int) -> ConnectionStep:
    body = ApiVersionsRequest(client_software_name="kafkadouble", client_software_version="1")
    return ConnectionStep(body, version, version)
