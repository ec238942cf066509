"""DescribeClientQuotas: the quotas of the entities that match a filter (KIP-546).

An invalid filter fails the whole request, whose response then has a null list.
`controller.client_quotas` says what a filter matches. Versions 0 and 1 differ only in their
encoding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)

from ..controller.client_quotas import describe_client_quotas
from ..requests.request import Request

if TYPE_CHECKING:
    from ..handler_context import HandlerContext


def answer(node: HandlerContext, request: Request[DescribeClientQuotasRequest]) -> DescribeClientQuotasResponse:
    of = DescribeClientQuotasResponse
    found = describe_client_quotas(node.image, request.body.components, request.body.strict)
    return of(
        entries=[
            of.EntryData(
                entity=[of.EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
                values=[of.ValueData(key=key, value=value) for key, value in sorted(values.items())],
            )
            for entity, values in found
        ]
    )


def refuse(
    request: Request[DescribeClientQuotasRequest], code: int, message: str | None
) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(
        error_code=code, error_message=message or error_codes.meaning(code), entries=None
    )
