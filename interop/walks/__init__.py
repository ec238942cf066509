"""Foreign clients, a program each, that walk through what users of Kafka do, on any broker; each
reads what the others wrote."""
