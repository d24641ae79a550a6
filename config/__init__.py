"""Settings, URLs and start-up of the whole product."""
