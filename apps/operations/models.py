"""What operating this installation leaves behind: the backups that were made of it, and what was seen of it outside."""

from django.db import models


class Backup(models.Model):
    """A complete backup. Written to the database after it was made, so a backup lists those before it, not itself."""

    taken_at = models.DateTimeField("moment whose state it holds", unique=True)
    finished_at = models.DateTimeField()
    folder = models.TextField()
    size = models.BigIntegerField("bytes")
    # Artifacts that were missing in their store or did not match their hash: they are not in the backup.
    damaged = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-taken_at"]

    def __str__(self) -> str:
        return self.folder


class WatchedCertificate(models.Model):
    """The certificate at one of the addresses under which people find this server, as the worker saw it last.

    Only those of `settings` are kept. `expires_at` stays when a later look fails; `problem` says why that failed.
    """

    address = models.CharField(max_length=300, unique=True)
    looked_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    problem = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return self.address
