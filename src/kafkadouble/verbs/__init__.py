"""What a program can do with a KafkaDouble: one module for each subject."""
