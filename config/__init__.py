"""Settings, addresses and start-up of the whole product."""
