"""The judge: a process that knows the answers, and how its verdicts are reported."""
