"""The verbs of a KafkaDouble: one module for each subject."""
