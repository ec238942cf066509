"""Kafka's data for pipelines: log directories, the wire, captured traffic and metadata history as
Arrow tables, and as sources of Spark.

Rules. Only `pipeline/spark` imports pyspark; everything else serves pandas, polars and DuckDB as
well. It reaches servers only over the wire, and imports only the pure parts of `server` (file
formats, epochs, images).
"""
