"""Archives of submissions from Blackboard."""
