"""One hand-in, graded at once for a service that starts the course for each."""
