"""What nodes have on disk and what they keep of it: directories, and saved logs."""
