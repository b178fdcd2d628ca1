"""Resources the service needs for a number of ideas per hour over a number of papers."""
