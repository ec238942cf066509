"""How the programs of each language are built, one file per language, each with its rows of
`PROGRAMS`."""
