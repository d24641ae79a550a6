import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


COMPRESSED = (
    ('runs_runnode', 'clock'),
    ('runs_batch', 'payload'),
    ('runs_block', 'data'),
    ('runs_streambatch', 'payload'),
)


class Migration(migrations.Migration):

    replaces = [
        ('runs', '0001_initial'),
        ('runs', '0002_storage'),
        ('runs', '0003_artifacts_expected'),
        ('runs', '0004_seal_attempts'),
        ('runs', '0005_blocks'),
        ('runs', '0006_series_have_no_samples'),
        ('runs', '0007_rig_provenance'),
        ('runs', '0008_archive_attempts'),
        ('runs', '0009_bounded_reads'),
        ('runs', '0010_batches_have_one_index'),
        ('runs', '0011_events_from_output'),
        ('runs', '0012_streams'),
        ('runs', '0013_judged'),
        ('runs', '0014_what_was_sampled'),
        ('runs', '0015_doubted'),
        ('runs', '0016_schema_changes_found'),
        ('runs', '0017_outdated_archives'),
        ('runs', '0018_series_lock_no_metric'),
    ]
    initial = True

    dependencies = [
        ('catalog', '0001_squashed_0005_workload_names'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('repetition', models.PositiveIntegerField(default=1)),
                ('provenance', models.CharField(choices=[('agent', 'measured by an agent'), ('submitted', 'submitted through the API'), ('example', 'shipped example'), ('rig', 'made up by the scale rig')], max_length=16)),
                ('state', models.CharField(choices=[('open', 'running'), ('ended', 'being stored'), ('sealed', 'complete')], default='open', max_length=8)),
                ('outcome', models.CharField(blank=True, choices=[('succeeded', 'Succeeded'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], max_length=16)),
                ('reason', models.TextField(blank=True)),
                ('started_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('sealed_at', models.DateTimeField(blank=True, null=True)),
                ('derivation', models.PositiveSmallIntegerField(default=0)),
                ('told', models.JSONField(blank=True, default=dict)),
                ('warmup', models.FloatField(default=0, verbose_name='planned warm-up, s')),
                ('duration', models.FloatField(blank=True, null=True, verbose_name='planned length of the measured phase, s')),
                ('measured_from', models.FloatField(blank=True, null=True, verbose_name="start of the measured phase, s on the run's clock")),
                ('measured_to', models.FloatField(blank=True, null=True, verbose_name="end of the measured phase, s on the run's clock")),
                ('batches_expected', models.PositiveIntegerField(blank=True, null=True)),
                ('artifacts_expected', models.JSONField(blank=True, default=list)),
                ('seal_attempts', models.PositiveIntegerField(default=0)),
                ('seal_due_at', models.DateTimeField(blank=True, null=True)),
                ('server_version', models.CharField(blank=True, max_length=120)),
                ('tool_version', models.CharField(blank=True, max_length=120)),
                ('host', models.JSONField(blank=True, default=dict)),
                ('command', models.TextField(blank=True)),
                ('data_bytes', models.BigIntegerField(blank=True, null=True, verbose_name='size of the data set, bytes')),
                ('samplers', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, db_default=[], default=list, size=None)),
                ('failed_checks', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), blank=True, db_default=[], default=list, size=None)),
                ('is_excluded', models.BooleanField(db_default=False, default=False)),
                ('unparsed_lines', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, size=None)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), blank=True, default=list, size=None)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('load_level', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='catalog.loadlevel')),
                ('system', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='catalog.system')),
                ('workload', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='catalog.workload')),
            ],
            options={
                'ordering': ['-started_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='ArchiveAttempt',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='archive_attempt', serialize=False, to='runs.run')),
                ('attempts', models.PositiveIntegerField()),
                ('due_at', models.DateTimeField()),
                ('problem', models.TextField(blank=True)),
            ],
        ),
        migrations.CreateModel(
            name='Artifact',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('sha256', models.CharField(max_length=64)),
                ('size', models.BigIntegerField(verbose_name='size, bytes')),
                ('media_type', models.CharField(default='text/plain', max_length=80)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='artifacts', to='runs.run')),
            ],
            options={
                'ordering': ['run', 'name'],
            },
        ),
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sequence', models.PositiveIntegerField()),
                ('checksum', models.CharField(max_length=64)),
                ('payload', models.BinaryField()),
                ('received_at', models.DateTimeField(auto_now_add=True)),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='runs.run')),
            ],
        ),
        migrations.CreateModel(
            name='Block',
            fields=[
                ('pk', models.CompositePrimaryKey('run_id', 'node', blank=True, editable=False, primary_key=True, serialize=False)),
                ('node', models.PositiveSmallIntegerField()),
                ('size', models.BigIntegerField(verbose_name='size, bytes')),
                ('data', models.BinaryField(null=True)),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='runs.run')),
            ],
        ),
        migrations.CreateModel(
            name='Configuration',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('content_hash', models.CharField(max_length=64, unique=True)),
                ('variables', models.JSONField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('content_hash__regex', '^[0-9a-f]{64}$')), name='configuration_hash_is_sha256')],
            },
        ),
        migrations.CreateModel(
            name='Distribution',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('node', models.PositiveSmallIntegerField(default=0)),
                ('starts_at', models.FloatField(verbose_name="start, s on the run's clock")),
                ('ends_at', models.FloatField(verbose_name="end, s on the run's clock")),
                ('grid', models.CharField(max_length=60)),
                ('buckets', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
                ('counts', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('byte_start', models.BigIntegerField()),
                ('byte_end', models.BigIntegerField()),
                ('parser', models.CharField(max_length=40)),
                ('parser_version', models.CharField(max_length=20)),
                ('artifact', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='distributions', to='runs.artifact')),
                ('metric', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.metric')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='distributions', to='runs.run')),
            ],
            options={
                'ordering': ['run', 'metric', 'node', 'starts_at'],
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('label', models.CharField(max_length=200)),
                ('starts_at', models.FloatField(verbose_name="start, s on the run's clock")),
                ('ends_at', models.FloatField(blank=True, null=True, verbose_name="end, s on the run's clock")),
                ('node', models.CharField(blank=True, max_length=80)),
                ('detail', models.JSONField(blank=True, default=dict)),
                ('from_output', models.BooleanField(db_default=False, default=False)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='runs.run')),
            ],
            options={
                'ordering': ['run', 'starts_at'],
            },
        ),
        migrations.CreateModel(
            name='Exclusion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.TextField()),
                ('excluded_at', models.DateTimeField(auto_now_add=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('ended_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('excluded_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exclusions', to='runs.run')),
            ],
            options={
                'ordering': ['run', '-id'],
            },
        ),
        migrations.CreateModel(
            name='Measurement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('value', models.FloatField()),
                ('byte_start', models.BigIntegerField()),
                ('byte_end', models.BigIntegerField()),
                ('parser', models.CharField(max_length=40)),
                ('parser_version', models.CharField(max_length=20)),
                ('artifact', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='measurements', to='runs.artifact')),
                ('metric', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.metric')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='measurements', to='runs.run')),
            ],
            options={
                'ordering': ['run', 'metric'],
            },
        ),
        migrations.CreateModel(
            name='RunCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('check_key', models.CharField(max_length=40, verbose_name='key of the check')),
                ('status', models.CharField(choices=[('passed', 'Passed'), ('failed', 'Failed'), ('cannot_tell', 'cannot tell')], max_length=12)),
                ('evidence', models.TextField()),
                ('detail', models.JSONField(blank=True, default=dict)),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='checks', to='runs.run')),
            ],
            options={
                'ordering': ['run', 'id'],
            },
        ),
        migrations.CreateModel(
            name='RunNode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('name', models.CharField(max_length=80)),
                ('role', models.CharField(blank=True, max_length=16)),
                ('samples', models.PositiveIntegerField(default=0)),
                ('clock', models.BinaryField(default=b'')),
                ('constants', models.JSONField(blank=True, default=dict)),
                ('configuration', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.configuration')),
                ('defaults', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.configuration')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='nodes', to='runs.run')),
            ],
            options={
                'ordering': ['run', 'number'],
            },
        ),
        migrations.CreateModel(
            name='Series',
            fields=[
                ('pk', models.CompositePrimaryKey('run_id', 'metric_id', 'node', blank=True, editable=False, primary_key=True, serialize=False)),
                ('node', models.PositiveSmallIntegerField()),
                ('base', models.BigIntegerField(default=0, verbose_name='what its integers are counted from')),
                ('offset', models.PositiveIntegerField(default=0, verbose_name="place in the node's block, bytes")),
                ('length', models.PositiveIntegerField(default=0, verbose_name="length in the node's block, bytes")),
                ('count', models.PositiveIntegerField(default=0)),
                ('mean', models.FloatField(null=True)),
                ('stddev', models.FloatField(null=True)),
                ('minimum', models.FloatField(null=True)),
                ('maximum', models.FloatField(null=True)),
                ('p1', models.FloatField(null=True)),
                ('p5', models.FloatField(null=True)),
                ('p50', models.FloatField(null=True)),
                ('p95', models.FloatField(null=True)),
                ('p99', models.FloatField(null=True)),
                ('first', models.FloatField(null=True)),
                ('last', models.FloatField(null=True)),
                ('increase', models.FloatField(null=True)),
                ('resets', models.PositiveIntegerField(default=0)),
                ('whole_count', models.PositiveIntegerField(default=0)),
                ('whole_mean', models.FloatField(null=True)),
                ('whole_stddev', models.FloatField(null=True)),
                ('whole_minimum', models.FloatField(null=True)),
                ('whole_maximum', models.FloatField(null=True)),
                ('whole_p1', models.FloatField(null=True)),
                ('whole_p5', models.FloatField(null=True)),
                ('whole_p50', models.FloatField(null=True)),
                ('whole_p95', models.FloatField(null=True)),
                ('whole_p99', models.FloatField(null=True)),
                ('whole_first', models.FloatField(null=True)),
                ('whole_last', models.FloatField(null=True)),
                ('whole_increase', models.FloatField(null=True)),
                ('whole_resets', models.PositiveIntegerField(default=0)),
                ('metric', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.metric')),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='series', to='runs.run')),
            ],
        ),
        migrations.CreateModel(
            name='Stream',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('agent', models.CharField(max_length=80)),
                ('nodes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=80), default=list, size=None)),
                ('joined_at', models.DateTimeField(auto_now_add=True)),
                ('batches_expected', models.PositiveIntegerField(blank=True, null=True)),
                ('wait_until', models.DateTimeField(blank=True, null=True)),
                ('closed', models.BooleanField(default=False)),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='streams', to='runs.run')),
            ],
            options={
                'ordering': ['run', 'number'],
            },
        ),
        migrations.CreateModel(
            name='StreamBatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sequence', models.PositiveIntegerField()),
                ('checksum', models.CharField(max_length=64)),
                ('payload', models.BinaryField()),
                ('received_at', models.DateTimeField(auto_now_add=True)),
                ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='runs.stream')),
            ],
        ),
        migrations.CreateModel(
            name='ArchivedRun',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='archived', serialize=False, to='runs.run')),
                ('manifest', models.CharField(max_length=300, verbose_name='path of the manifest in the archive')),
                ('manifest_sha256', models.CharField(max_length=64)),
                ('size', models.BigIntegerField(verbose_name='size of all its files, bytes')),
                ('archived_at', models.DateTimeField()),
                ('moved_at', models.DateTimeField(blank=True, null=True)),
                ('fetched_at', models.DateTimeField(blank=True, null=True)),
                ('is_outdated', models.BooleanField(default=False)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('manifest_sha256__regex', '^[0-9a-f]{64}$')), name='archived_hash_is_sha256'), models.CheckConstraint(condition=models.Q(('size__gte', 0)), name='archived_size_not_negative')],
            },
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['system', 'workload', 'load_level', '-started_at'], name='run_by_side'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(models.F('system'), models.F('workload'), models.F('load_level'), models.F('provenance'), models.OrderBy(models.F('started_at'), descending=True), models.OrderBy(models.F('id'), descending=True), condition=models.Q(('is_excluded', False), ('outcome', 'succeeded'), ('state', 'sealed')), name='run_counted'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(models.F('system'), models.F('workload'), models.F('load_level'), models.F('state'), models.F('outcome'), models.OrderBy(models.F('started_at'), descending=True), models.OrderBy(models.F('id'), descending=True), condition=models.Q(('is_excluded', False), ('outcome', 'succeeded'), ('state', 'sealed'), _negated=True), name='run_left_out'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(models.OrderBy(models.F('started_at'), descending=True), models.OrderBy(models.F('id'), descending=True), name='run_newest'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(models.F('system'), models.OrderBy(models.F('started_at'), descending=True), models.OrderBy(models.F('id'), descending=True), name='run_newest_of_system'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(models.F('workload'), models.OrderBy(models.F('started_at'), descending=True), models.OrderBy(models.F('id'), descending=True), name='run_newest_of_workload'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(models.F('outcome'), models.OrderBy(models.F('started_at'), descending=True), models.OrderBy(models.F('id'), descending=True), condition=models.Q(('is_excluded', False), ('outcome', 'succeeded'), ('state', 'sealed'), _negated=True), name='run_newest_left_out'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(models.F('provenance'), models.OrderBy(models.F('started_at'), descending=True), models.OrderBy(models.F('id'), descending=True), name='run_newest_of_origin'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(models.OrderBy(models.F('started_at'), descending=True), models.OrderBy(models.F('id'), descending=True), condition=models.Q(('failed_checks', []), _negated=True), name='run_newest_doubted'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['server_version'], name='run_by_server_version'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('state', 'sealed'), _negated=True), fields=['state'], name='run_unsealed'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=django.contrib.postgres.indexes.GinIndex(fields=['tags'], name='run_by_tag'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['open', 'ended', 'sealed'])), name='run_state_known'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('provenance__in', ['agent', 'submitted', 'example', 'rig'])), name='run_provenance_known'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('outcome', ''), ('state', 'open')), models.Q(models.Q(('state', 'open'), _negated=True), ('ended_at__isnull', False), ('outcome__in', ['succeeded', 'failed', 'cancelled'])), _connector='OR'), name='run_outcome_from_its_end_on'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('measured_to__gte', models.F('measured_from'))), name='run_measured_phase_in_order'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('outcome', 'failed'), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='run_failure_has_reason'),
        ),
        migrations.AddConstraint(
            model_name='artifact',
            constraint=models.UniqueConstraint(fields=('run', 'name'), name='artifact_once'),
        ),
        migrations.AddConstraint(
            model_name='artifact',
            constraint=models.CheckConstraint(condition=models.Q(('sha256__regex', '^[0-9a-f]{64}$')), name='artifact_hash_is_sha256'),
        ),
        migrations.AddConstraint(
            model_name='artifact',
            constraint=models.CheckConstraint(condition=models.Q(('size__gte', 0)), name='artifact_size_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='batch',
            constraint=models.UniqueConstraint(fields=('run', 'sequence'), name='batch_once'),
        ),
        migrations.AddConstraint(
            model_name='batch',
            constraint=models.CheckConstraint(condition=models.Q(('checksum__regex', '^[0-9a-f]{64}$')), name='batch_checksum_is_sha256'),
        ),
        migrations.AddConstraint(
            model_name='distribution',
            constraint=models.UniqueConstraint(fields=('run', 'metric', 'node', 'starts_at'), name='distribution_once'),
        ),
        migrations.AddConstraint(
            model_name='distribution',
            constraint=models.CheckConstraint(condition=models.Q(('buckets__len', models.F('counts__len'))), name='distribution_has_a_count_per_bucket'),
        ),
        migrations.AddConstraint(
            model_name='distribution',
            constraint=models.CheckConstraint(condition=models.Q(('ends_at__gte', models.F('starts_at'))), name='distribution_in_order'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(condition=models.Q(('ends_at__isnull', False), ('kind', 'ddl')), fields=['run'], name='event_schema_change'),
        ),
        migrations.AddConstraint(
            model_name='event',
            constraint=models.UniqueConstraint(fields=('run', 'kind', 'starts_at', 'label', 'node'), name='event_once'),
        ),
        migrations.AddConstraint(
            model_name='event',
            constraint=models.CheckConstraint(condition=models.Q(('ends_at__isnull', True), ('ends_at__gte', models.F('starts_at')), _connector='OR'), name='event_in_order'),
        ),
        migrations.AddConstraint(
            model_name='exclusion',
            constraint=models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='exclusion_has_reason'),
        ),
        migrations.AddConstraint(
            model_name='exclusion',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True)), fields=('run',), name='exclusion_open_once'),
        ),
        migrations.AddConstraint(
            model_name='measurement',
            constraint=models.UniqueConstraint(fields=('run', 'metric'), name='measurement_once'),
        ),
        migrations.AddConstraint(
            model_name='measurement',
            constraint=models.CheckConstraint(condition=models.Q(('byte_end__gt', models.F('byte_start')), ('byte_start__gte', 0)), name='measurement_bytes_in_order'),
        ),
        migrations.AddConstraint(
            model_name='runcheck',
            constraint=models.UniqueConstraint(fields=('run', 'check_key'), name='run_check_once'),
        ),
        migrations.AddConstraint(
            model_name='runcheck',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['passed', 'failed', 'cannot_tell'])), name='run_check_status_known'),
        ),
        migrations.AddConstraint(
            model_name='runnode',
            constraint=models.UniqueConstraint(fields=('run', 'number'), name='run_node_number_once'),
        ),
        migrations.AddConstraint(
            model_name='runnode',
            constraint=models.UniqueConstraint(fields=('run', 'name'), name='run_node_name_once'),
        ),
        migrations.AddConstraint(
            model_name='stream',
            constraint=models.UniqueConstraint(fields=('run', 'number'), name='stream_number_once'),
        ),
        migrations.AddConstraint(
            model_name='stream',
            constraint=models.UniqueConstraint(fields=('run', 'agent'), name='stream_once_per_agent'),
        ),
        migrations.AddConstraint(
            model_name='streambatch',
            constraint=models.UniqueConstraint(fields=('stream', 'sequence'), name='stream_batch_once'),
        ),
        migrations.AddConstraint(
            model_name='streambatch',
            constraint=models.CheckConstraint(condition=models.Q(('checksum__regex', '^[0-9a-f]{64}$')), name='stream_batch_checksum_is_sha256'),
        ),
        *(
            # Compressed columns are stored as they are: compressing them again costs time and saves nothing.
            migrations.RunSQL(
                sql=f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL",
                reverse_sql=migrations.RunSQL.noop,
            )
            for table, column in COMPRESSED
        ),
    ]
