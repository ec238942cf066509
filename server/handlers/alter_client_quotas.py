"""AlterClientQuotas: set and remove quotas of users, client ids and addresses (KIP-546).

All quotas of one entity are altered or none; the error of one entity does not affect another.
`validate_only` gives the same response and changes nothing. `controller.client_quotas` says which
entity fails and why. Versions 0 and 1 differ only in their encoding. Quotas are stored and not
enforced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from kafkadouble.messages.message import Message

from ..controller.client_quotas import ClientQuotaResult, alter_client_quotas
from ..controller.decision import decided
from ..metadata.image import Image
from ..requests.request import Request
from ..requests.slices import begun
from ..requests.waiting import Wait, sliced

if TYPE_CHECKING:
    from ..handler_context import HandlerContext


@begun
def answer(node: HandlerContext, request: Request[AlterClientQuotasRequest]) -> Wait[AlterClientQuotasResponse]:
    body = request.body

    def decide(image: Image) -> Wait[tuple[Sequence[Message], AlterClientQuotasResponse]]:
        decision = yield from alter_client_quotas(image, body.entries)
        entries = yield from sliced(_entry, decision.results)
        return [] if body.validate_only else decision.records, AlterClientQuotasResponse(entries=entries)

    return (yield from decided(node.controller, decide))


def _entry(altered: ClientQuotaResult) -> AlterClientQuotasResponse.EntryData:
    return AlterClientQuotasResponse.EntryData(
        error_code=altered.error_code,
        error_message=altered.error_message,
        entity=[
            AlterClientQuotasResponse.EntityData(entity_type=kind, entity_name=name) for kind, name in altered.entity
        ],
    )


def refuse(request: Request[AlterClientQuotasRequest], code: int, message: str | None) -> AlterClientQuotasResponse:
    """Fails every requested entity, with the generic message of the code, as in Kafka."""
    failed = [
        ClientQuotaResult(
            tuple((part.entity_type, part.entity_name) for part in entry.entity), code, error_codes.meaning(code)
        )
        for entry in request.body.entries
    ]
    return AlterClientQuotasResponse(entries=[_entry(each) for each in failed])
