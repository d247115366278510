"""Code and data to build and grade exercises; they do not ship to students."""
