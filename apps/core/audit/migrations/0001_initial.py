from django.db import migrations, models
import django.utils.timezone

# An error in the code cannot change the log, nor can a query by hand that forgets what it is. The one exception is
# apps.core.audit.retention, which names itself, and it too cannot reach the last 90 days.
FORWARDS = """
CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND coalesce(current_setting('splashboard.prune_audit', true), '') = 'on'
     AND OLD.at < now() - interval '90 days' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only: % of entry % is refused', TG_OP, OLD.id
    USING ERRCODE = 'insufficient_privilege', HINT = 'manage.py prune_audit deletes old entries';
END
$$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit_auditentry
  FOR EACH ROW EXECUTE FUNCTION audit_refuse();
"""
BACKWARDS = """
DROP TRIGGER audit_append_only ON audit_auditentry;
DROP FUNCTION audit_refuse();
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('kind', models.CharField(max_length=8)),
                ('who', models.CharField(max_length=150)),
                ('credential', models.CharField(max_length=100)),
                ('address', models.CharField(max_length=45)),
                ('action', models.CharField(max_length=40)),
                ('subject', models.CharField(max_length=200)),
                ('before', models.CharField(max_length=300)),
                ('after', models.CharField(max_length=300)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['who', '-id'], name='audit_by_who'),
                    models.Index(fields=['action', '-id'], name='audit_by_action'),
                    models.Index(fields=['at'], name='audit_by_time'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('kind__in', ['person', 'token', 'agent', 'command', 'nobody'])), name='audit_kind_known'),
                ],
            },
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
    ]
