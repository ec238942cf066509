"""Controllers register and are forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.controller_registration import ControllerRegistrationRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.controller_registration import register_controller, unregister_controller
from kafkadouble.server.metadata.image import Endpoint, Image
from kafkadouble.server.requests.request import Refusal
from tests.server.controller.small_clusters import after, cluster

Listener = ControllerRegistrationRequest.Listener
Feature = ControllerRegistrationRequest.Feature

LISTENERS = [Listener(name="CONTROLLER", host="h", port=9093, security_protocol=2)]


def request(**changed: Any) -> ControllerRegistrationRequest:
    fields: dict[str, Any] = {
        "controller_id": 3000,
        "incarnation_id": Uuid(b"i" * 16),
        "zk_migration_ready": True,
        "listeners": LISTENERS,
        "features": [Feature(name="metadata.version", min_supported_version=7, max_supported_version=33)],
    }
    return ControllerRegistrationRequest(**{**fields, **changed})


def registered(image: Image, **changed: Any) -> Image:
    return after(image, register_controller(image, request(**changed)))


def test_controller_registration_is_written_without_zookeeper() -> None:
    record: Any
    [record] = register_controller(cluster(1), request())
    assert not record.zk_migration_ready
    controller = after(cluster(1), [record]).controllers[3000]
    assert controller.incarnation_id == Uuid(b"i" * 16)
    assert controller.endpoints == (Endpoint("CONTROLLER", "h", 9093, 2),)
    assert dict(controller.features) == {"metadata.version": (7, 33)}


def test_last_controller_registration_counts() -> None:
    image = registered(registered(cluster(1)), incarnation_id=Uuid(b"j" * 16), listeners=[])
    assert image.controllers[3000].incarnation_id == Uuid(b"j" * 16)
    assert image.controllers[3000].endpoints == ()


@pytest.mark.parametrize(("level", "accepted"), [(14, False), (15, True), (33, True)])
def test_metadata_know_controllers_since_3_7(level: int, accepted: bool) -> None:
    if accepted:
        assert 3000 in registered(cluster(1, level=level, elr=0)).controllers
        return
    with pytest.raises(Refusal) as refused:
        register_controller(cluster(1, level=level, elr=0), request())
    assert refused.value.code == error_codes.UNSUPPORTED_VERSION


@pytest.mark.parametrize("wrong", [{"security_protocol": 9}, {"port": 0}, {"host": ""}])
def test_a_listener_that_cannot_be(wrong: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"name": "A", "host": "h", "port": 1, "security_protocol": 0, **wrong}
    with pytest.raises(Refusal) as refused:
        register_controller(cluster(1), request(listeners=[Listener(**fields)]))
    assert refused.value.code == error_codes.UNKNOWN_SERVER_ERROR


class TestUnregistering:
    def test_unregistered_controller_is_removed(self) -> None:
        image = registered(cluster(1))
        assert 3000 not in after(image, unregister_controller(image, 3001, 3000)).controllers

    @pytest.mark.parametrize(
        ("level", "active", "requested", "code", "message"),
        [
            (33, 3000, 3000, error_codes.INVALID_REQUEST, "Controller cannot unregister itself while it is active."),
            (32, 3000, 3000, error_codes.INVALID_REQUEST, "Controller cannot unregister itself while it is active."),
            (32, 3001, 3000, error_codes.UNSUPPORTED_VERSION, "The current MetadataVersion is too old to support"),
            (32, 3001, 4, error_codes.UNSUPPORTED_VERSION, "controller unregistration."),
            (33, 3001, 4, error_codes.CONTROLLER_ID_NOT_REGISTERED, "Controller ID 4 is not currently registered."),
            (33, 3001, -1, error_codes.CONTROLLER_ID_NOT_REGISTERED, "Controller ID -1 is not currently registered."),
        ],
    )
    def test_invalid_controller_registration_is_refused(
        self, level: int, active: int, requested: int, code: int, message: str
    ) -> None:
        with pytest.raises(Refusal) as refused:
            unregister_controller(registered(cluster(1, level=level)), active, requested)
        assert refused.value.code == code
        assert message in str(refused.value.message)
