"""How the course's exercises are made: what does not ship to students."""
