"""Grade the submissions of a class, from their folders to recorded results."""
