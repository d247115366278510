"""Run a notebook's cells in sandboxes, with limits on time, output and files."""
