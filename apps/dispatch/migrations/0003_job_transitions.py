"""Only the drawn transitions happen, whoever writes: a check constraint sees one row, a trigger its past as well.

A final job never comes back to life by a late message, and an attempt's number never falls, because it says which
uploads belong to the living attempt.
"""

from django.db import migrations

CREATE = """
CREATE FUNCTION dispatch_job_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.state IS DISTINCT FROM OLD.state AND NOT (CASE OLD.state
        WHEN 'queued' THEN NEW.state IN ('matched', 'running', 'failed', 'cancelled')
        WHEN 'matched' THEN NEW.state IN ('running', 'queued', 'cancelled')
        WHEN 'running' THEN NEW.state IN ('succeeded', 'failed', 'queued', 'cancelling')
        WHEN 'cancelling' THEN NEW.state IN ('cancelled', 'succeeded')
        ELSE false
    END) THEN
        RAISE EXCEPTION 'job % cannot go from % to %', OLD.id, OLD.state, NEW.state
            USING ERRCODE = 'check_violation', CONSTRAINT = 'job_transition_is_legal';
    END IF;
    IF NEW.attempt < OLD.attempt THEN
        RAISE EXCEPTION 'job % cannot go from attempt % back to %', OLD.id, OLD.attempt, NEW.attempt
            USING ERRCODE = 'check_violation', CONSTRAINT = 'job_attempt_never_falls';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER dispatch_job_transition BEFORE UPDATE ON dispatch_job
    FOR EACH ROW EXECUTE FUNCTION dispatch_job_transition();
"""

DROP = """
DROP TRIGGER dispatch_job_transition ON dispatch_job;
DROP FUNCTION dispatch_job_transition();
"""


class Migration(migrations.Migration):
    dependencies = [("dispatch", "0002_job_ready_at")]

    operations = [migrations.RunSQL(sql=CREATE, reverse_sql=DROP)]
