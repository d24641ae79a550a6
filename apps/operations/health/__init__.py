"""Health of this installation: required services, and the checks of the page Health."""
