"""A double that answers from a recording. Imported only when one is used."""
