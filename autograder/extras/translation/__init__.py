"""Files for translators; the build and the checks read what is filled in."""
