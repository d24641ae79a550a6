"""The answer of a gate where a build's people look: comment, summary and outputs of GitHub and GitLab."""
