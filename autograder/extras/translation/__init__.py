"""Files for translators; the build and the checks read the filled-in translations."""
