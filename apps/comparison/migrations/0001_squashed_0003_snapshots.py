import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('comparison', '0001_initial'),
        ('comparison', '0002_saved_pins'),
        ('comparison', '0003_snapshots'),
    ]
    initial = True

    dependencies = [
        ('catalog', '0001_squashed_0005_workload_names'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='PinnedBaseline',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('note', models.TextField(blank=True)),
                ('pinned_at', models.DateTimeField(auto_now=True)),
                ('pinned_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.system')),
                ('workload', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='pinned_baseline', to='catalog.workload')),
            ],
        ),
        migrations.CreateModel(
            name='SavedComparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=100, unique=True)),
                ('title', models.CharField(max_length=200)),
                ('note', models.TextField(blank=True)),
                ('query', models.JSONField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Snapshot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('content', models.JSONField()),
                ('content_version', models.PositiveSmallIntegerField()),
                ('runs', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('state_hash', models.CharField(max_length=64)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('comparison', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='snapshots', to='comparison.savedcomparison')),
                ('made_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['comparison', '-number'],
            },
        ),
        migrations.CreateModel(
            name='Acknowledgement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fingerprint', models.CharField(max_length=64)),
                ('group', models.CharField(max_length=40)),
                ('said', models.JSONField()),
                ('reason', models.TextField()),
                ('acknowledged_at', models.DateTimeField(auto_now_add=True)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('acknowledged_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('withdrawn_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('fingerprint__regex', '^[0-9a-f]{64}$')), name='acknowledgement_hash_is_sha256'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='acknowledgement_has_reason'), models.UniqueConstraint(condition=models.Q(('withdrawn_at__isnull', True)), fields=('fingerprint',), name='acknowledgement_open_once')],
            },
        ),
        migrations.AddConstraint(
            model_name='savedcomparison',
            constraint=models.CheckConstraint(condition=models.Q(('title', ''), _negated=True), name='saved_comparison_has_title'),
        ),
        migrations.AddConstraint(
            model_name='snapshot',
            constraint=models.UniqueConstraint(fields=('comparison', 'number'), name='snapshot_once'),
        ),
        migrations.AddConstraint(
            model_name='snapshot',
            constraint=models.CheckConstraint(condition=models.Q(('state_hash__regex', '^[0-9a-f]{64}$')), name='snapshot_hash_is_sha256'),
        ),
    ]
