"""Who of the sample class has solved all, and who has made mistakes."""

FULL = {"ada", "emmy", "grace", "katherine", "maryam", "niels", "rosalind"}
MISTAKEN = {"alan", "blaise", "claude", "dorothy", "erwin"}
