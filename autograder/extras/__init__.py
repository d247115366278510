"""What most courses do not need; whatever is deleted here, all else works."""
