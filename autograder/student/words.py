"""Words by which others know what the kit says; here, as they do without PyTorch."""

NOT_SOLVED = "Not solved yet"  # how the note on a stub begins
LEFT_OUT = "AUTOGRADER_LEAVES_OUT_DEMONSTRATIONS"  # an environment variable, "1"
