"""Other right ways to pack heads."""
