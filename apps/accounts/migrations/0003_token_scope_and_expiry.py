from django.db import migrations, models

# What each token could do before it had a scope: all that its user's role allows.
READERS = """
UPDATE accounts_apitoken SET scope = 'read'
FROM accounts_user WHERE accounts_user.id = accounts_apitoken.user_id AND accounts_user.role = 'reader'
"""


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_saved_filters'),
    ]

    operations = [
        migrations.AddField(
            model_name='apitoken',
            name='expires_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='apitoken',
            name='scope',
            field=models.CharField(choices=[('read', 'Read'), ('submit', 'Submit'), ('review', 'Review')], default='review', max_length=8),
            preserve_default=False,
        ),
        migrations.RunSQL(READERS, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name='apitoken',
            constraint=models.CheckConstraint(condition=models.Q(('scope__in', ['read', 'submit', 'review'])), name='api_token_scope_known'),
        ),
    ]
