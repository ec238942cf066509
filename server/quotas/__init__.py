"""Client quotas: how much a user, a client id or an address may do per second, and for how long a
client that did more is throttled (KIP-13, KIP-55, KIP-124, KIP-219, KIP-599, KIP-612).

Nothing here has a clock or a socket: times are given, in ms.
"""
