"""Optional features: whatever is deleted here, the rest of the engine works."""
