"""The contents of one file of Kafka, as plain fields."""
