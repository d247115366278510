"""The author's tools: build a course from its notebooks, and test its checks."""
