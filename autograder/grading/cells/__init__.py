"""A notebook's cells, run in sandboxes: what one may take, show and read."""
