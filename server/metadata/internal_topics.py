"""The internal topics, in which coordinators keep their state: clients may read them, and not write
them.
"""

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_GROUP_STATE = "__share_group_state"

METADATA_TOPIC = "__cluster_metadata"
"""The quorum's own log; clients do not see it as a topic."""

INTERNAL_TOPICS = frozenset((CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE))
