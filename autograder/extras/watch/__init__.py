"""Grade hand-ins automatically as they arrive, and return their feedback."""
