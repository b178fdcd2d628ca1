"""What adaptive pairs, a prior and seeds buy: rankings of ideas whose true order is known."""
