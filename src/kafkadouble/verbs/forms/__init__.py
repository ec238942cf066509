"""Values of verbs as JSON, and results of verbs as arguments of others."""
