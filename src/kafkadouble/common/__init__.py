"""What every room of the front door uses: errors, words, marks. It imports no other room."""
