"""The course on the Transformer: its units, and what several of them share."""
