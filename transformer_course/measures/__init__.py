"""Measures of trained models; a case names one by its module, such as "recovery"."""
