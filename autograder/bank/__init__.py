"""What stays with the instructor: cases, wrong variants and right styles, unit by unit."""
