"""Mutations of client quotas: rates, who shares a quota, and what is throttled (KIP-13, KIP-124,
KIP-219, KIP-599, KIP-612)."""

from __future__ import annotations

from .mutation import Mutation

_ENFORCED = "tests/server/quotas/test_enforced.py"
_FORWARDED = "tests/server/quotas/test_forwarded.py"
_CONNECTIONS = "tests/server/network/test_connection_quotas.py"

QUOTAS = {
    "quotas: a throttled fetch is counted": Mutation(
        "server/quotas/request_throttle.py",
        "        fetch.unrecord(self._user, client_id, size_bytes, now)\n",
        "",
        (_ENFORCED,),
        "a consumer that fetches the same records again and again is throttled for ever",
    ),
    "quotas: a throttled fetch opens a session": Mutation(
        "server/handlers/fetch.py",
        "            return context.throttled_answer()\n",
        "            return context.answer([])\n",
        (_ENFORCED,),
        "the client uses a session whose partitions it has not heard of",
    ),
    "quotas: a producer without answers is not muted": Mutation(
        "server/quotas/request_throttle.py",
        "        if not self._throttle_time_ms or not (message is None or isinstance(message, Message)):\n",
        "        if not self._throttle_time_ms or not isinstance(message, Message):\n",
        (_ENFORCED,),
        "a quota does not slow down producers with acks=0",
    ),
    "quotas: the throttle time of the controller is not applied": Mutation(
        "server/quotas/request_throttle.py",
        "        if request.peer.apis[request.api_key].row.forwarded:\n",
        "        if False:\n",
        (_FORWARDED,),
        "a client that creates too many topics through a broker is not muted",
    ),
    "quotas: requests of other nodes are throttled": Mutation(
        "server/dispatch.py",
        "    if node.quotas.is_on and (is_forwarded or not is_from_node(request)):\n",
        "    if node.quotas.is_on:\n",
        (_ENFORCED, _FORWARDED),
        "followers fall behind because of the quota of a client",
    ),
    "quotas: the time of requests throttles without a limit": Mutation(
        "server/quotas/quota_managers.py",
        ", longest_ms=config.window_ms)",
        ")",
        (_ENFORCED,),
        "one slow request mutes a client for minutes",
    ),
    "quotas: a refused topic takes tokens": Mutation(
        "server/quotas/controller_mutation_quota.py",
        "        if self._strict and self._is_exceeded():\n",
        "        self._bucket.record(partitions, self._limit, self._now)\n        if self._strict and self._is_exceeded():\n",
        (_ENFORCED,),
        "a client that tries again waits longer each time",
    ),
    "quotas: a refused connection is counted": Mutation(
        "server/quotas/connection_rates.py",
        "        if delay_ms := _recorded(rate, limit, config, now):\n            rate.record(-1, now)\n",
        "        delay_ms = _recorded(rate, limit, config, now)\n",
        (_CONNECTIONS,),
        "an address that tries again is never accepted",
    ),
}
