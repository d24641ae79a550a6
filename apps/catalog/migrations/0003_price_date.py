from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalog", "0002_aws_places")]

    operations = [
        migrations.AddField(
            model_name="hardwareclass", name="price_date", field=models.DateField(blank=True, null=True)
        ),
        # The sources that this program wrote itself name their day: "Percona, 2018-08-20: …", "AWS …, read 2026-01-31".
        migrations.RunSQL(
            r"""
            UPDATE catalog_hardwareclass SET price_date = (regexp_match(price_source, '^.*(\d{4}-\d\d-\d\d)'))[1]::date
            WHERE price_per_hour IS NOT NULL
              AND (price_source LIKE 'Percona, 2018-08-20: %' OR price_source ~ '^AWS price list.*, read \d{4}-\d\d-\d\d$')
            """,
            migrations.RunSQL.noop,
        ),
    ]
