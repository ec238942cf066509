"""Strings and collections as Java has them, where clients see what follows: hashes and lengths of
texts, and the order in which Apache Kafka iterates over its tables.

Assignors, coordinators and client metrics decide in this order. Nothing here knows of Kafka.
"""
