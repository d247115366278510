"""What this unit hands to the student: its pictures. It ships with the notebook."""
