"""The topics in which coordinators keep their state: clients read them, and do not write them."""

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_GROUP_STATE = "__share_group_state"

METADATA_TOPIC = "__cluster_metadata"
"""The quorum's own log: no topic that a client could see."""

INTERNAL_TOPICS = frozenset((CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE))
