"""ControllerRegistration and UnregisterController: the registrations of controllers (KIP-919).

A controller registers whenever its registration is missing or out of date. Only invalid endpoints
are refused.
"""

from __future__ import annotations

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.controller_registration import ControllerRegistrationRequest
from kafkadouble.messages.generated.register_controller_record import RegisterControllerRecord
from kafkadouble.messages.generated.unregister_controller_record import UnregisterControllerRecord
from kafkadouble.messages.message import Message

from ..metadata.image import Image
from ..metadata.record_versions import CONTROLLERS, UNREGISTERING, level_of
from ..requests.request import Refusal
from .advertised_listeners import checked_endpoints

METADATA_VERSION_TOO_OLD = "The current MetadataVersion is too old to support controller"


def register_controller(image: Image, body: ControllerRegistrationRequest) -> list[Message]:
    """The records. Refusal(UNSUPPORTED_VERSION) below the metadata.version that has controller
    registrations.
    """
    if level_of(image) < CONTROLLERS:
        raise Refusal(error_codes.UNSUPPORTED_VERSION, f"{METADATA_VERSION_TOO_OLD} registrations.")
    record = RegisterControllerRecord(
        controller_id=body.controller_id,
        incarnation_id=body.incarnation_id,
        end_points=[
            RegisterControllerRecord.ControllerEndpoint(**endpoint._asdict())
            for endpoint in checked_endpoints(body.listeners)
        ],
        features=[
            RegisterControllerRecord.ControllerFeature(
                name=feature.name,
                min_supported_version=feature.min_supported_version,
                max_supported_version=feature.max_supported_version,
            )
            for feature in body.features
        ],
    )
    return [record]


def unregister_controller(image: Image, active: int, controller_id: int) -> list[Message]:
    """The records. `active` is the active controller's id. Refusal(INVALID_REQUEST) for the active
    controller itself, (UNSUPPORTED_VERSION) below the required metadata.version,
    (CONTROLLER_ID_NOT_REGISTERED).
    """
    if controller_id == active:
        message = "Controller cannot unregister itself while it is active."
        raise Refusal(error_codes.INVALID_REQUEST, message)
    if level_of(image) < UNREGISTERING:
        raise Refusal(error_codes.UNSUPPORTED_VERSION, f"{METADATA_VERSION_TOO_OLD} unregistration.")
    if controller_id not in image.controllers:
        message = f"Controller ID {controller_id} is not currently registered."
        raise Refusal(error_codes.CONTROLLER_ID_NOT_REGISTERED, message)
    return [UnregisterControllerRecord(controller_id=controller_id)]
