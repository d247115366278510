"""The class around the notebooks: a sample of one, and what its grades say."""
