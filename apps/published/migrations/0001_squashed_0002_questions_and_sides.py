import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('published', '0001_initial'),
        ('published', '0002_questions_and_sides'),
    ]
    initial = True

    dependencies = [
        ('catalog', '0001_squashed_0005_workload_names'),
    ]

    operations = [
        migrations.CreateModel(
            name='Article',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('title', models.CharField(max_length=200)),
                ('author', models.CharField(blank=True, max_length=120)),
                ('publisher', models.CharField(blank=True, max_length=120)),
                ('published', models.CharField(max_length=10, verbose_name='date as stated (YYYY, YYYY-MM or YYYY-MM-DD)')),
                ('tested', models.CharField(blank=True, max_length=10, verbose_name='date of the tests as stated')),
                ('address', models.URLField(blank=True)),
                ('setup', models.JSONField(blank=True, default=dict)),
                ('content_hash', models.CharField(max_length=64)),
            ],
            options={
                'ordering': ['-published', 'title'],
                'constraints': [models.CheckConstraint(condition=models.Q(('content_hash__regex', '^[0-9a-f]{64}$')), name='article_hash_is_sha256')],
            },
        ),
        migrations.CreateModel(
            name='Figure',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('entry', models.CharField(max_length=80, verbose_name='entry of the file, for example results[3]')),
                ('question', models.CharField(max_length=40)),
                ('workload', models.CharField(max_length=80)),
                ('conditions', models.JSONField(blank=True, default=dict)),
                ('unit', models.CharField(blank=True, max_length=40)),
                ('value', models.FloatField(blank=True, null=True)),
                ('low', models.FloatField(blank=True, null=True)),
                ('high', models.FloatField(blank=True, null=True)),
                ('qualifier', models.CharField(blank=True, choices=[('exact', 'Exact'), ('approx', 'about'), ('at_least', 'at least'), ('at_most', 'at most')], max_length=10)),
                ('side', models.CharField(blank=True, max_length=80)),
                ('numerator', models.CharField(blank=True, max_length=80)),
                ('denominator', models.CharField(blank=True, max_length=80)),
                ('of_which', models.JSONField(blank=True, default=dict)),
                ('note', models.TextField(blank=True)),
                ('article', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='figures', to='published.article')),
                ('denominator_platform', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.platform')),
                ('hardware_class', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='figures', to='catalog.hardwareclass')),
                ('metric', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.metric')),
                ('numerator_platform', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.platform')),
                ('platform', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='figures', to='catalog.platform')),
            ],
            options={
                'ordering': ['article', 'id'],
                'constraints': [models.UniqueConstraint(fields=('article', 'entry'), name='figure_once'), models.CheckConstraint(condition=models.Q(models.Q(('unit', 'ratio'), models.Q(('numerator', ''), _negated=True), models.Q(('denominator', ''), _negated=True), ('side', '')), models.Q(models.Q(('unit', 'ratio'), _negated=True), ('denominator', ''), ('numerator', '')), _connector='OR'), name='figure_ratio_names_both_sides'), models.CheckConstraint(condition=models.Q(models.Q(('qualifier__in', ['exact', 'approx', 'at_least', 'at_most']), models.Q(('value__isnull', False), models.Q(('high__isnull', False), ('low__isnull', False)), _connector='OR')), models.Q(('high__isnull', True), ('low__isnull', True), ('qualifier', ''), ('value__isnull', True), models.Q(('note', ''), _negated=True)), _connector='OR'), name='figure_has_value_or_note'), models.CheckConstraint(condition=models.Q(models.Q(('high__isnull', True), ('low__isnull', True)), ('low__lte', models.F('high')), _connector='OR'), name='figure_low_to_high')],
            },
        ),
    ]
