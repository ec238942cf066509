"""Why a step of some APIs takes more than 20 ms, for the widest request that the limits allow."""

LONG_STEPS: dict[str, str] = {}
"""The reason, by API."""
