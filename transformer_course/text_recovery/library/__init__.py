"""Code that the unit's notebook imports, such as the project; it ships to students."""
