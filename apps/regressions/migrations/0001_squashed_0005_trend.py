import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('regressions', '0001_initial'),
        ('regressions', '0002_checked_releases'),
        ('regressions', '0003_accepted_as'),
        ('regressions', '0004_rules_and_decisions'),
        ('regressions', '0005_trend'),
    ]
    initial = True

    dependencies = [
        ('catalog', '0001_squashed_0005_workload_names'),
        ('dispatch', '0001_squashed_0008_failed_jobs'),
        ('runs', '0001_squashed_0018_series_lock_no_metric'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Looked',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='looked', serialize=False, to='runs.run')),
                ('sealed_at', models.DateTimeField()),
                ('is_excluded', models.BooleanField()),
                ('at', models.DateTimeField(auto_now=True)),
            ],
        ),
        migrations.CreateModel(
            name='Finding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('change', 'Change'), ('missing', 'Missing')], max_length=8)),
                ('family', models.CharField(blank=True, max_length=40)),
                ('part', models.PositiveSmallIntegerField(default=0)),
                ('title', models.CharField(max_length=250)),
                ('verdict', models.CharField(choices=[('worse', 'Worse'), ('better', 'Better'), ('mixed', 'better and worse'), ('missing', 'Missing'), ('gone', 'Gone')], max_length=8)),
                ('largest', models.FloatField(blank=True, null=True)),
                ('state', models.CharField(choices=[('new', 'New'), ('under review', 'Under Review'), ('confirmed', 'Confirmed'), ('accepted', 'Accepted'), ('fixed', 'Fixed'), ('not reproducible', 'Not Reproducible'), ('verify', 'Verify')], default='new', max_length=16)),
                ('reason', models.TextField(blank=True)),
                ('accepted_until', models.DateField(blank=True, null=True)),
                ('due_on', models.DateField(blank=True, null=True)),
                ('labels', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), blank=True, default=list, size=None)),
                ('found_at', models.DateTimeField(auto_now_add=True)),
                ('changed_at', models.DateTimeField()),
                ('baseline', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.release')),
                ('hardware_class', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='findings', to='catalog.hardwareclass')),
                ('merged_into', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='merged', to='regressions.finding')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='findings', to=settings.AUTH_USER_MODEL)),
                ('platform', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='findings', to='catalog.platform')),
                ('release', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='findings', to='catalog.release')),
                ('schedule', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='findings', to='dispatch.schedule')),
            ],
            options={
                'ordering': ['-changed_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='Note',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('what', models.CharField(max_length=16)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('text', models.TextField(blank=True)),
                ('detail', models.JSONField(blank=True, default=dict)),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('finding', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='regressions.finding')),
                ('mentions', models.ManyToManyField(blank=True, related_name='mentioned_in', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Repetition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('asked_at', models.DateTimeField(auto_now_add=True)),
                ('asked_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='repetition', to='dispatch.campaign')),
                ('finding', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='repetitions', to='regressions.finding')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.AddField(
            model_name='finding',
            name='campaigns',
            field=models.ManyToManyField(related_name='findings', through='regressions.Repetition', to='dispatch.campaign'),
        ),
        migrations.CreateModel(
            name='SignOff',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('note', models.TextField(blank=True)),
                ('seen', models.JSONField(default=dict)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('hardware_class', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.hardwareclass')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sign_offs', to='catalog.release')),
                ('withdrawn_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Threshold',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('smallest', models.FloatField()),
                ('significant', models.FloatField()),
                ('at', models.DateTimeField(auto_now=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('metric', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.metric')),
                ('workload', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='thresholds', to='catalog.workload')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Trend',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('settings_hash', models.CharField(max_length=64)),
                ('analysed', models.PositiveIntegerField(default=0)),
                ('past_hash', models.CharField(blank=True, max_length=64)),
                ('resets', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, default=list, size=None)),
                ('runs', models.PositiveIntegerField(default=0)),
                ('variation', models.FloatField(blank=True, null=True)),
                ('effect', models.FloatField(blank=True, null=True)),
                ('reason', models.CharField(blank=True, max_length=200)),
                ('rules', models.PositiveSmallIntegerField(default=0)),
                ('analysed_at', models.DateTimeField(blank=True, null=True)),
                ('hardware_class', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.hardwareclass')),
                ('last_run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.run')),
                ('load_level', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.loadlevel')),
                ('metric', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.metric')),
                ('platform', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.platform')),
                ('workload', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='histories', to='catalog.workload')),
            ],
            options={
                'db_table': 'regressions_history',
                'ordering': ['platform', 'workload', 'load_level', 'metric'],
            },
        ),
        migrations.CreateModel(
            name='Change',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('release', 'between releases'), ('history', 'in the trend'), ('missing', 'Missing')], max_length=8)),
                ('verdict', models.CharField(choices=[('worse', 'Worse'), ('better', 'Better'), ('missing', 'Missing')], max_length=8)),
                ('before', models.FloatField(blank=True, null=True)),
                ('after', models.FloatField(blank=True, null=True)),
                ('ratio', models.FloatField(blank=True, null=True)),
                ('low', models.FloatField(blank=True, null=True)),
                ('high', models.FloatField(blank=True, null=True)),
                ('p', models.FloatField(blank=True, null=True)),
                ('accepted_ratio', models.FloatField(blank=True, null=True)),
                ('runs_before', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, default=list, size=None)),
                ('runs_after', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, default=list, size=None)),
                ('reason', models.TextField(blank=True)),
                ('found_at', models.DateTimeField(auto_now_add=True)),
                ('judged_at', models.DateTimeField()),
                ('gone_at', models.DateTimeField(blank=True, null=True)),
                ('baseline_system', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.system')),
                ('first_run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.run')),
                ('load_level', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.loadlevel')),
                ('metric', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.metric')),
                ('slot', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='changes', to='dispatch.scheduledrun')),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='changes', to='catalog.system')),
                ('workload', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.workload')),
                ('finding', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='changes', to='regressions.finding')),
                ('history', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='changes', to='regressions.trend')),
            ],
            options={
                'ordering': ['finding', 'id'],
            },
        ),
        migrations.CreateModel(
            name='CheckedRelease',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('result', models.CharField(max_length=12)),
                ('counts', models.JSONField(default=dict)),
                ('told', models.JSONField(default=dict)),
                ('checked_at', models.DateTimeField()),
                ('baseline', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.release')),
                ('hardware_class', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.hardwareclass')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='checks', to='catalog.release')),
            ],
            options={
                'ordering': ['-checked_at', '-id'],
                'constraints': [models.UniqueConstraint(fields=('release', 'hardware_class'), name='checked_release_once'), models.CheckConstraint(condition=models.Q(('result__in', ['fine', 'regression', 'cannot tell'])), name='checked_release_result_known')],
            },
        ),
        migrations.CreateModel(
            name='Link',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.URLField(max_length=500)),
                ('title', models.CharField(blank=True, max_length=200)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('finding', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='regressions.finding')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('finding', 'url'), name='link_once')],
            },
        ),
        migrations.CreateModel(
            name='Pending',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('since', models.DateTimeField(auto_now_add=True)),
                ('hardware_class', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.hardwareclass')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.release')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('release', 'hardware_class'), name='pending_once')],
            },
        ),
        migrations.AddIndex(
            model_name='finding',
            index=models.Index(fields=['-changed_at', '-id'], name='finding_newest'),
        ),
        migrations.AddIndex(
            model_name='finding',
            index=models.Index(fields=['state', '-changed_at'], name='finding_by_state'),
        ),
        migrations.AddIndex(
            model_name='finding',
            index=models.Index(fields=['owner', '-changed_at'], name='finding_by_owner'),
        ),
        migrations.AddConstraint(
            model_name='finding',
            constraint=models.UniqueConstraint(fields=('kind', 'platform', 'hardware_class', 'release', 'schedule', 'family', 'part'), name='finding_once', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='finding',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['change', 'missing'])), name='finding_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='finding',
            constraint=models.CheckConstraint(condition=models.Q(('verdict__in', ['worse', 'better', 'mixed', 'missing', 'gone'])), name='finding_verdict_known'),
        ),
        migrations.AddConstraint(
            model_name='finding',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['new', 'under review', 'confirmed', 'accepted', 'fixed', 'not reproducible', 'verify'])), name='finding_state_known'),
        ),
        migrations.AddConstraint(
            model_name='finding',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'accepted'), _negated=True), models.Q(models.Q(('reason', ''), _negated=True), ('accepted_until__isnull', False)), _connector='OR'), name='finding_accepted_with_reason_and_end'),
        ),
        migrations.AddConstraint(
            model_name='threshold',
            constraint=models.UniqueConstraint(fields=('workload', 'metric'), name='threshold_once', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='threshold',
            constraint=models.CheckConstraint(condition=models.Q(('significant__gt', 0), ('significant__lte', 0.0001), ('smallest__gt', 0), ('smallest__lt', 1)), name='threshold_in_range'),
        ),
        migrations.AddConstraint(
            model_name='trend',
            constraint=models.UniqueConstraint(fields=('platform', 'hardware_class', 'settings_hash', 'workload', 'load_level', 'metric'), name='history_once'),
        ),
        migrations.AddConstraint(
            model_name='change',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'release')), fields=('system', 'baseline_system', 'workload', 'load_level', 'metric'), name='change_of_release_once'),
        ),
        migrations.AddConstraint(
            model_name='change',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'history')), fields=('history', 'first_run'), name='change_of_history_once'),
        ),
        migrations.AddConstraint(
            model_name='change',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'missing')), fields=('slot', 'system', 'workload'), name='change_missing_once'),
        ),
        migrations.AddConstraint(
            model_name='change',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('baseline_system__isnull', False), ('kind', 'release'), ('metric__isnull', False)), models.Q(('first_run__isnull', False), ('history__isnull', False), ('kind', 'history'), ('metric__isnull', False)), models.Q(('kind', 'missing'), ('slot__isnull', False)), _connector='OR'), name='change_is_whole'),
        ),
    ]
