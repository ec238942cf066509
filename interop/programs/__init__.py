"""Foreign client programs, a folder per language, each in the idiom of its language, all with the
same contract."""
