"""Why a step of some APIs takes more than 20 ms, for the widest request that the limits allow."""

SESSION = "a session gets all of its partitions in one step: another fetch of it must not find half of them"
PUBLISHED = "a change of the cluster is published in one step: brokers must not see half of it"
MEMBER = "a member's subscription and the state of its group change in one step"
BATCH = "the group's records are one batch, which is written and replayed in one step"
FEATURES = "the features of a request are changed together, or none of them"
QUESTIONS = "Python collects the garbage of 50,000 questions to the share coordinator"
PEERS = "only other nodes of the cluster may send it"

LONG_STEPS: dict[str, str] = {
    "ConsumerGroupHeartbeat": MEMBER,
    "ControllerRegistration": PEERS,
    "CreatePartitions": PUBLISHED,
    "CreateTopics": PUBLISHED,
    "DeleteAcls": PUBLISHED,
    "DeleteTopics": PUBLISHED,
    "Fetch": SESSION,
    "LeaveGroup": MEMBER,
    "OffsetDelete": BATCH,
    "ShareFetch": SESSION,
    "ShareGroupHeartbeat": MEMBER,
}
"""The reason, by API. Their lines are not bounded either."""

IN_TIME: dict[str, str] = {
    "DescribeShareGroupOffsets": QUESTIONS,
    "ShareAcknowledge": SESSION,
    "UpdateFeatures": FEATURES,
}
"""The reason of those whose lines are within the bound of a step, and whose time is not always."""
