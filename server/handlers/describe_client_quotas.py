"""DescribeClientQuotas: the quotas of the entities that match a filter (KIP-546).

An invalid filter fails the whole request, whose response then has a null list.
`controller.client_quotas` says what a filter matches. Versions 0 and 1 differ only in their
encoding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)

from ..controller.client_quotas import describe_client_quotas
from ..metadata.image import QuotaEntity
from ..requests.request import Request
from ..requests.waiting import Wait, begun, sliced

if TYPE_CHECKING:
    from ..handler_context import HandlerContext


@begun
def answer(node: HandlerContext, request: Request[DescribeClientQuotasRequest]) -> Wait[DescribeClientQuotasResponse]:
    found = yield from describe_client_quotas(node.image, request.body.components, request.body.strict)
    return DescribeClientQuotasResponse(entries=(yield from sliced(lambda each: _entry(*each), found)))


def _entry(entity: QuotaEntity, values: Mapping[str, float]) -> DescribeClientQuotasResponse.EntryData:
    of = DescribeClientQuotasResponse
    return of.EntryData(
        entity=[of.EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        values=[of.ValueData(key=key, value=value) for key, value in sorted(values.items())],
    )


def refuse(
    request: Request[DescribeClientQuotasRequest], code: int, message: str | None
) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(
        error_code=code, error_message=message or error_codes.meaning(code), entries=None
    )
