"""Tests of decoder layers, right and with gaps, by what they leave out."""
