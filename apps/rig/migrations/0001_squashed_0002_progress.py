from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('rig', '0001_initial'),
        ('rig', '0002_progress'),
    ]
    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='StudyState',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('loaded_at', models.DateTimeField(blank=True, null=True)),
                ('wanted', models.PositiveIntegerField(default=0)),
                ('restored', models.PositiveIntegerField(default=0)),
                ('changed_at', models.DateTimeField(blank=True, null=True)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('removed_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
    ]
