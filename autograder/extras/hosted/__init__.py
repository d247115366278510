"""Grade a single hand-in at once, for services that run a command for each."""
