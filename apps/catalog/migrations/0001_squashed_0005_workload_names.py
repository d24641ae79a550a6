import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('catalog', '0001_initial'),
        ('catalog', '0002_aws_places'),
        ('catalog', '0003_price_date'),
        ('catalog', '0004_short_names'),
        ('catalog', '0005_workload_names'),
    ]
    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Platform',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=40, unique=True)),
                ('name', models.CharField(max_length=80, unique=True)),
                ('replication', models.CharField(blank=True, max_length=200)),
                ('description', models.TextField(blank=True)),
                ('color', models.PositiveSmallIntegerField(blank=True, null=True)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='HardwareClass',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('name', models.CharField(max_length=120)),
                ('provider', models.CharField(blank=True, max_length=40)),
                ('instance_type', models.CharField(blank=True, max_length=60)),
                ('vcpu', models.PositiveIntegerField(blank=True, null=True)),
                ('memory_bytes', models.BigIntegerField(blank=True, null=True)),
                ('storage', models.CharField(blank=True, max_length=120)),
                ('storage_bytes', models.BigIntegerField(blank=True, null=True)),
                ('iops', models.PositiveIntegerField(blank=True, null=True)),
                ('network_bits_per_second', models.BigIntegerField(blank=True, null=True)),
                ('region', models.CharField(blank=True, max_length=40)),
                ('price_per_hour', models.DecimalField(blank=True, decimal_places=5, max_digits=12, null=True, verbose_name='price, USD/h')),
                ('price_source', models.CharField(blank=True, max_length=200)),
                ('price_date', models.DateField(blank=True, null=True)),
                ('label', models.CharField(blank=True, max_length=60, verbose_name='as articles call it')),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.CheckConstraint(condition=models.Q(('vcpu__isnull', True), ('vcpu__gt', 0), _connector='OR'), name='hardware_vcpu_positive'), models.CheckConstraint(condition=models.Q(('memory_bytes__isnull', True), ('memory_bytes__gt', 0), _connector='OR'), name='hardware_memory_positive'), models.CheckConstraint(condition=models.Q(('price_per_hour__isnull', True), ('price_per_hour__gte', 0), _connector='OR'), name='hardware_price_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='LoadLevel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('threads', models.PositiveIntegerField()),
                ('rate', models.FloatField(blank=True, null=True, verbose_name='rate, 1/s')),
            ],
            options={
                'ordering': [models.OrderBy(models.F('rate'), nulls_first=True), 'threads'],
                'constraints': [models.UniqueConstraint(fields=('threads', 'rate'), name='load_level_once', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('threads__gt', 0)), name='load_level_threads_positive'), models.CheckConstraint(condition=models.Q(('rate__isnull', True), ('rate__gt', 0), _connector='OR'), name='load_level_rate_positive')],
            },
        ),
        migrations.CreateModel(
            name='Metric',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=160, unique=True)),
                ('name', models.CharField(max_length=160)),
                ('unit', models.CharField(blank=True, max_length=40)),
                ('kind', models.CharField(choices=[('counter', 'Counter'), ('gauge', 'Gauge'), ('distribution', 'Distribution')], max_length=16)),
                ('direction', models.CharField(choices=[('higher', 'higher is better'), ('lower', 'lower is better'), ('neutral', 'neither is better')], max_length=8)),
                ('resource', models.CharField(blank=True, max_length=40)),
                ('aspect', models.CharField(blank=True, choices=[('utilization', 'Utilization'), ('saturation', 'Saturation'), ('errors', 'Errors')], max_length=16)),
                ('description', models.TextField(blank=True)),
                ('curated', models.BooleanField(default=False)),
            ],
            options={
                'ordering': ['key'],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['counter', 'gauge', 'distribution'])), name='metric_kind_known'), models.CheckConstraint(condition=models.Q(('direction__in', ['higher', 'lower', 'neutral'])), name='metric_direction_known'), models.CheckConstraint(condition=models.Q(('aspect__in', ['', 'utilization', 'saturation', 'errors'])), name='metric_aspect_known')],
            },
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.CharField(max_length=80)),
                ('version_key', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('released_on', models.DateField(blank=True, null=True)),
                ('platform', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='catalog.platform')),
            ],
            options={
                'ordering': ['platform', 'version_key', 'version'],
            },
        ),
        migrations.CreateModel(
            name='System',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('name', models.CharField(max_length=120)),
                ('short_name', models.CharField(max_length=16)),
                ('endpoint', models.CharField(blank=True, max_length=200)),
                ('settings', models.JSONField(blank=True, default=dict)),
                ('settings_hash', models.CharField(max_length=64)),
                ('labels', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, default=list, size=None)),
                ('aws_region', models.CharField(blank=True, db_default='', max_length=40)),
                ('aws_kind', models.CharField(blank=True, choices=[('cluster', 'Aurora cluster'), ('instance', 'RDS instance')], db_default='', max_length=10)),
                ('aws_identifier', models.CharField(blank=True, db_default='', max_length=63)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('archived_at', models.DateTimeField(blank=True, null=True)),
                ('hardware_class', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='systems', to='catalog.hardwareclass')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='systems', to='catalog.release')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Node',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('role', models.CharField(choices=[('writer', 'Writer'), ('reader', 'Reader'), ('proxy', 'Proxy'), ('manager', 'Manager'), ('client', 'Client')], max_length=16)),
                ('zone', models.CharField(blank=True, max_length=40)),
                ('hardware_class', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='nodes', to='catalog.hardwareclass')),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='nodes', to='catalog.system')),
            ],
            options={
                'ordering': ['system', 'name'],
            },
        ),
        migrations.CreateModel(
            name='Workload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tool', models.CharField(max_length=40)),
                ('name', models.CharField(max_length=120)),
                ('parameters', models.JSONField(default=dict)),
                ('content_hash', models.CharField(max_length=64, unique=True)),
                ('description', models.TextField(blank=True)),
                ('primary_metric', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.metric')),
            ],
            options={
                'ordering': ['tool', 'name'],
            },
        ),
        migrations.AddConstraint(
            model_name='release',
            constraint=models.UniqueConstraint(fields=('platform', 'version'), name='release_once'),
        ),
        migrations.AddConstraint(
            model_name='release',
            constraint=models.CheckConstraint(condition=models.Q(('version', ''), _negated=True), name='release_has_version'),
        ),
        migrations.AddConstraint(
            model_name='system',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('short_name'), name='system_short_name_once'),
        ),
        migrations.AddConstraint(
            model_name='system',
            constraint=models.CheckConstraint(condition=models.Q(('short_name', ''), _negated=True), name='system_has_short_name'),
        ),
        migrations.AddConstraint(
            model_name='system',
            constraint=models.CheckConstraint(condition=models.Q(('settings_hash__regex', '^[0-9a-f]{64}$')), name='system_settings_hash_is_sha256'),
        ),
        migrations.AddConstraint(
            model_name='system',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('aws_identifier', ''), ('aws_kind', ''), ('aws_region', '')), models.Q(('aws_kind__in', ['cluster', 'instance']), models.Q(('aws_region', ''), _negated=True), models.Q(('aws_identifier', ''), _negated=True)), _connector='OR'), name='system_aws_place_whole'),
        ),
        migrations.AddConstraint(
            model_name='node',
            constraint=models.UniqueConstraint(fields=('system', 'name'), name='node_once'),
        ),
        migrations.AddConstraint(
            model_name='node',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['writer', 'reader', 'proxy', 'manager', 'client'])), name='node_role_known'),
        ),
        migrations.AddConstraint(
            model_name='workload',
            constraint=models.CheckConstraint(condition=models.Q(('content_hash__regex', '^[0-9a-f]{64}$')), name='workload_hash_is_sha256'),
        ),
        migrations.AddConstraint(
            model_name='workload',
            constraint=models.CheckConstraint(condition=models.Q(('tool', ''), _negated=True), name='workload_has_tool'),
        ),
    ]
