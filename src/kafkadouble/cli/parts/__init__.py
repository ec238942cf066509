"""What several verbs of the command line are made of: options, input, errors, progress."""
