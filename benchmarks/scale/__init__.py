"""What the service needs for so many ideas an hour over so many papers."""
