"""Archives of submissions from Brightspace."""
