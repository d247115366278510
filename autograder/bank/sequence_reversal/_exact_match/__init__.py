"""Other styles of exact match."""
