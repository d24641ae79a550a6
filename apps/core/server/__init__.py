"""State of the server itself: room on its disks, outages of its database, what was started again."""
