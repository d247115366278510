"""Grades, hand-ins and feedback over the network: LTI 1.3, Canvas and Moodle."""
