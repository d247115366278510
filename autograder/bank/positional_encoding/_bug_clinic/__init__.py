"""What the clinic of tables is made of: tables, and tests that are no good."""
