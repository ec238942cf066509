"""SASL: how a client proves who it is, as pure state machines of both sides (KIP-43, KIP-152,
KIP-368)."""
