"""A notebook's cells, run in boxes: what one may take, show and read."""
