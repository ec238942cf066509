"""The key of every API by Kafka's name: `ApiKeys.PRODUCE` is 0, `ApiKeys(18).name` is
"API_VERSIONS".

A member is an int: it is equal to the number in a request header, and is the same key of a dict.
"""

from .generated._api_keys import ApiKeys

__all__ = ["ApiKeys"]
