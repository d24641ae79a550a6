import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


# Only the drawn transitions happen, whoever writes: a check constraint sees one row, a trigger its past as well.
# A final job never comes back to life by a late message, and an attempt's number never falls, because it says which
# uploads belong to the living attempt.
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

    replaces = [
        ('dispatch', '0001_initial'),
        ('dispatch', '0002_job_ready_at'),
        ('dispatch', '0003_job_transitions'),
        ('dispatch', '0004_entries'),
        ('dispatch', '0005_schedules'),
        ('dispatch', '0006_scheduled_runs'),
        ('dispatch', '0007_agent_systems'),
        ('dispatch', '0008_failed_jobs'),
    ]
    initial = True

    dependencies = [
        ('catalog', '0001_squashed_0005_workload_names'),
        ('runs', '0001_squashed_0018_series_lock_no_metric'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Agent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=80, unique=True)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('labels', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, default=list, size=None)),
                ('version', models.CharField(blank=True, max_length=40)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('last_seen_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('health', models.JSONField(blank=True, default=dict)),
                ('is_trusted', models.BooleanField(default=False)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.CheckConstraint(condition=models.Q(('digest__regex', '^[0-9a-f]{64}$')), name='agent_digest_is_sha256')],
            },
        ),
        migrations.CreateModel(
            name='Campaign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('repetitions', models.PositiveIntegerField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('cancelled_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to=settings.AUTH_USER_MODEL)),
                ('systems', models.ManyToManyField(related_name='campaigns', to='catalog.system')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='Enrolment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('systems', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=80), blank=True, default=list, size=None)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('agent', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='dispatch.agent')),
                ('made_by', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Entry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.PositiveIntegerField()),
                ('warmup', models.FloatField(default=0, verbose_name='warm-up of each run, s')),
                ('duration', models.FloatField(verbose_name='measured phase of each run, s')),
                ('ends_when_refused', models.BooleanField(default=False)),
                ('least_gain', models.FloatField(blank=True, null=True)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='dispatch.campaign')),
                ('load_levels', models.ManyToManyField(related_name='entries', to='catalog.loadlevel')),
                ('workload', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='catalog.workload')),
            ],
            options={
                'ordering': ['campaign', 'place'],
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('repetition', models.PositiveIntegerField()),
                ('position', models.PositiveIntegerField()),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('matched', 'Matched'), ('running', 'Running'), ('cancelling', 'Cancelling'), ('succeeded', 'Succeeded'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=12)),
                ('attempt', models.PositiveSmallIntegerField(default=0)),
                ('lease_expires_at', models.DateTimeField(blank=True, null=True)),
                ('reason', models.TextField(blank=True)),
                ('progress', models.CharField(blank=True, max_length=120)),
                ('queued_at', models.DateTimeField(auto_now_add=True)),
                ('ready_at', models.DateTimeField(blank=True, null=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('agent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to='dispatch.agent')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='dispatch.campaign')),
                ('entry', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='dispatch.entry')),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to='catalog.system')),
                ('workload', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to='catalog.workload')),
            ],
            options={
                'ordering': ['campaign', 'position'],
            },
        ),
        migrations.CreateModel(
            name='JobRun',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='job_run', serialize=False, to='runs.run')),
                ('attempt', models.PositiveSmallIntegerField()),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='job_runs', to='dispatch.job')),
            ],
        ),
        migrations.CreateModel(
            name='Schedule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120, unique=True)),
                ('plan', models.TextField(verbose_name='campaign file')),
                ('cron', models.CharField(max_length=100)),
                ('zone', models.CharField(default='UTC', max_length=60)),
                ('patience', models.FloatField(default=12, verbose_name='a result is missing after, h')),
                ('next_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('archived_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='schedules', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='ScheduledRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('due_at', models.DateTimeField()),
                ('state', models.CharField(choices=[('started', 'Started'), ('complete', 'Complete'), ('missing', 'Missing'), ('not started', 'Not Started')], max_length=12)),
                ('reason', models.TextField(blank=True)),
                ('begun_at', models.DateTimeField(auto_now_add=True)),
                ('settled_at', models.DateTimeField(blank=True, null=True)),
                ('campaign', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='slot', to='dispatch.campaign')),
                ('schedule', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='slots', to='dispatch.schedule')),
            ],
            options={
                'ordering': ['-due_at'],
            },
        ),
        migrations.CreateModel(
            name='Skip',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.TextField()),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='skips', to='dispatch.job')),
                ('load_level', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='skips', to='catalog.loadlevel')),
            ],
            options={
                'ordering': ['job', 'load_level'],
            },
        ),
        migrations.CreateModel(
            name='AgentSystem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.CharField(max_length=80)),
                ('is_allowed', models.BooleanField(null=True)),
                ('asked_at', models.DateTimeField(auto_now_add=True)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('agent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='asked', to='dispatch.agent')),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['slug'],
                'constraints': [models.UniqueConstraint(fields=('agent', 'slug'), name='agent_system_once')],
            },
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(('repetitions__gt', 0)), name='campaign_repetitions_positive'),
        ),
        migrations.AddConstraint(
            model_name='entry',
            constraint=models.UniqueConstraint(fields=('campaign', 'place'), name='entry_place_once'),
        ),
        migrations.AddConstraint(
            model_name='entry',
            constraint=models.CheckConstraint(condition=models.Q(('duration__gt', 0), ('warmup__gte', 0)), name='entry_times_positive'),
        ),
        migrations.AddConstraint(
            model_name='entry',
            constraint=models.CheckConstraint(condition=models.Q(('least_gain', None), models.Q(('least_gain__gt', 0), ('least_gain__lt', 1)), _connector='OR'), name='entry_gain_is_a_share'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('state', 'queued')), fields=['campaign', 'position'], name='job_queue'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('state', 'failed')), fields=['finished_at'], name='job_failed'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(fields=('campaign', 'position'), name='job_position_once'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(fields=('entry', 'system', 'repetition'), name='job_once'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ('matched', 'running', 'cancelling'))), fields=('system',), name='one_job_per_system'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ('matched', 'running', 'cancelling'))), fields=('agent',), name='one_job_per_agent'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('lease_expires_at__isnull', True), ('state', 'queued')), models.Q(('agent__isnull', False), ('finished_at__isnull', True), ('lease_expires_at__isnull', False), ('state__in', ('matched', 'running', 'cancelling'))), models.Q(('finished_at__isnull', False), ('lease_expires_at__isnull', True), ('state__in', ('succeeded', 'failed', 'cancelled'))), _connector='OR'), name='job_state_holds_together'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='job_failure_has_reason'),
        ),
        migrations.AddIndex(
            model_name='schedule',
            index=models.Index(condition=models.Q(('next_at__isnull', False)), fields=['next_at'], name='schedule_due'),
        ),
        migrations.AddConstraint(
            model_name='schedule',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='schedule_has_name'),
        ),
        migrations.AddConstraint(
            model_name='schedule',
            constraint=models.CheckConstraint(condition=models.Q(('patience__gt', 0)), name='schedule_patience_positive'),
        ),
        migrations.AddIndex(
            model_name='scheduledrun',
            index=models.Index(condition=models.Q(('state', 'started')), fields=['state'], name='slot_unsettled'),
        ),
        migrations.AddConstraint(
            model_name='scheduledrun',
            constraint=models.UniqueConstraint(fields=('schedule', 'due_at'), name='slot_once'),
        ),
        migrations.AddConstraint(
            model_name='scheduledrun',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['started', 'complete', 'missing', 'not started'])), name='slot_state_known'),
        ),
        migrations.AddConstraint(
            model_name='skip',
            constraint=models.UniqueConstraint(fields=('job', 'load_level'), name='skip_once'),
        ),
        migrations.RunSQL(sql=CREATE, reverse_sql=DROP),
    ]
