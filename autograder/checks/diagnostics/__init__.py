"""Describe the symptoms of a wrong answer that no known mistake explains."""
