"""Grade submissions in this process, in other processes or on other machines."""
