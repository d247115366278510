"""The part of the course that ships to students. It imports nothing of the rest."""
