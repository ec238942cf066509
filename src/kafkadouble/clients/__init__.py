"""The connection settings of a client, in the form of its own library."""
