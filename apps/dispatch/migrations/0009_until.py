"""Campaigns that run until decided: a waiting job that is not needed any more is done."""

from django.db import migrations, models

TRANSITION = """
CREATE OR REPLACE FUNCTION dispatch_job_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.state IS DISTINCT FROM OLD.state AND NOT (CASE OLD.state
        WHEN 'queued' THEN NEW.state IN ('matched', 'running', %(ends)s)
        WHEN 'matched' THEN NEW.state IN ('running', 'queued', 'cancelled')
        WHEN 'running' THEN NEW.state IN ('succeeded', 'failed', 'queued', 'cancelling')
        WHEN 'cancelling' THEN NEW.state IN ('cancelled', 'succeeded')
        ELSE false
    END) THEN
        RAISE EXCEPTION 'job %% cannot go from %% to %%', OLD.id, OLD.state, NEW.state
            USING ERRCODE = 'check_violation', CONSTRAINT = 'job_transition_is_legal';
    END IF;
    IF NEW.attempt < OLD.attempt THEN
        RAISE EXCEPTION 'job %% cannot go from attempt %% back to %%', OLD.id, OLD.attempt, NEW.attempt
            USING ERRCODE = 'check_violation', CONSTRAINT = 'job_attempt_never_falls';
    END IF;
    RETURN NEW;
END
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("dispatch", "0001_squashed_0008_failed_jobs")]

    operations = [
        migrations.AddField("campaign", "until", models.CharField(blank=True, max_length=12)),
        migrations.AddField("entry", "looked", models.PositiveIntegerField(default=0)),
        migrations.RunSQL(
            TRANSITION % {"ends": "'failed', 'cancelled', 'succeeded'"},
            TRANSITION % {"ends": "'failed', 'cancelled'"},
        ),
    ]
