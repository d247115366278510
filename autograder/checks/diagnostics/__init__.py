"""What a wrong answer shows where no named mistake explains it."""
