"""Code that the unit's notebook imports, such as its figures; it ships to students."""
