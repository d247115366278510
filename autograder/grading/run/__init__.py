"""One run over a class: from its folders to what is kept of each submission."""
