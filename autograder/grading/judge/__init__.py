"""The judge, a process that knows the answers, and what is told of its verdicts."""
