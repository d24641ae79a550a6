import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('use_method', '0001_initial'),
        ('use_method', '0002_seal_instead_of_derivation'),
    ]
    initial = True

    dependencies = [
        ('runs', '0001_squashed_0018_series_lock_no_metric'),
    ]

    operations = [
        migrations.CreateModel(
            name='UsePanel',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='use_panel', serialize=False, to='runs.run')),
                ('version', models.PositiveIntegerField()),
                ('sealed_at', models.DateTimeField(null=True, verbose_name='seal of the run that it was judged on')),
                ('content', models.JSONField()),
                ('judged_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'ordering': ['run'],
            },
        ),
    ]
