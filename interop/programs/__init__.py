"""Foreign client programs, a folder per language, each in the idiom of its language and to one
promise."""
