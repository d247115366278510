"""Publish the student kit, and notebooks with solutions."""
