"""Foreign clients as programs, which do on any broker what users of Kafka do; each reads what the
others wrote."""
