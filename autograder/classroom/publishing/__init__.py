"""What leaves the course: the student kit and the website."""
