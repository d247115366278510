"""The course as a website: the released notebooks, run once."""
