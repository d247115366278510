"""Words by which others know what the kit says; here, as they do without PyTorch."""

LEFT_OUT = "AUTOGRADER_LEAVES_OUT_DEMONSTRATIONS"  # an environment variable, "1"
