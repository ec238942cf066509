"""Libraries for tests in other languages, a folder for each, and the generator of their verbs."""
