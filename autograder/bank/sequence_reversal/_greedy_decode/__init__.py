"""Other styles of greedy decoding."""
