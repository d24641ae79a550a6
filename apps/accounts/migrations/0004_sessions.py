import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# Sessions from before do not name their person in a column, and could be neither listed nor ended: people sign in again.
OLD = "DELETE FROM django_session"


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0003_token_scope_and_expiry'),
        ('sessions', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='PersonSession',
            fields=[
                ('session_key', models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name='session key')),
                ('session_data', models.TextField(verbose_name='session data')),
                ('expire_date', models.DateTimeField(db_index=True, verbose_name='expire date')),
                ('started_at', models.DateTimeField()),
                ('last_seen_at', models.DateTimeField()),
                ('address', models.CharField(max_length=45)),
                ('browser', models.CharField(max_length=60)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='sessions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'session',
                'verbose_name_plural': 'sessions',
                'abstract': False,
            },
        ),
        migrations.RunSQL(OLD, migrations.RunSQL.noop),
    ]
