"""The operations that a client may do on a group, as the Describe APIs write them (KIP-430).

Without an authorizer a client may do all of them.
"""

from __future__ import annotations

READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS = 3, 6, 8, 10, 11
ALL_OPERATIONS = sum(1 << operation for operation in (READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS))
"""The operations on a group, as bits of Kafka's AclOperation codes."""
