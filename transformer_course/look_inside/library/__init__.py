"""Code that the unit's notebook imports: training, figures, recorded results."""
