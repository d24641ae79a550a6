"""The pipeline's tasks in order; each makes one domain call and may run twice."""
