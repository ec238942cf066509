"""Shared by every room of the front door: errors, words, marks. It imports no other room."""
