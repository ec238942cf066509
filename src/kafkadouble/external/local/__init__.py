"""A Kafka that is started on this machine: its settings, its process, and what only it can do."""
