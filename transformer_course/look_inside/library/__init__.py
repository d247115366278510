"""What this unit hands to the student: training, measurements, recorded results."""
