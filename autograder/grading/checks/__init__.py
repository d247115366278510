"""A check cell: which exercise it asks for, and how it comes to a verdict."""
