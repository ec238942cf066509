"""Why an API may or may not answer with an error code: the words of the rows of error codes."""

from __future__ import annotations

REACHED = "reached"
"""Some transcript in tests/conversations shows it."""

AUTHORIZER = "without a right"
"""REACHED, by clients without a right: `tests/conversations/authorization.txt` shows it."""

ONE_NODE = "a single node leads every partition and is in sync at once; with other brokers it lasts only moments"
BESIDE = "needs several brokers: `interop/differential` shows it with three"
DISK = "needs a log directory that fails"
POLICIES = "no plugins for policies"
DESCRIPTIONS = "no plugin for topology descriptions"
CONTROLLER = "the controller is this node, which is always available"
LOADED = "coordinators load at once"
ALWAYS = "the coordinators of a single node are always available"
TWO_PHASE = "no two-phase commit"
NEW_GROUPS = "only in groups of the newer protocols"
UNREACHABLE = "Kafka lists it, but no request leads to it"
TIERED = "no tiered storage"
AT_ONCE = "a topic's id is looked up and used in one step"
MANY = "needs more than 10,000 changes in one request"
LISTENER = "only on a listener of controllers"
STATE_DELETED = "the state of a deleted topic is deleted at once"
LEGACY = "only for message formats that Kafka 4 no longer writes"
OLDER_LEVEL = "needs a cluster of an older metadata.version"
PLAIN = "listeners are PLAINTEXT, where tokens are refused; `interop/differential` shows it for forwarded requests"
DYNAMIC = "needs a quorum whose voters can be changed"
SHARE_STATE = "needs a share coordinator that fails, or that does not have the group"

COORDINATOR = {LOADED: "COORDINATOR_LOAD_IN_PROGRESS", ALWAYS: "COORDINATOR_NOT_AVAILABLE"}
"""The errors of coordinators that do not occur here."""
