"""Resources that the service needs for a number of ideas per hour and a number of papers."""
