"""A dump of tables with foreign keys, byte-identical for the same parameters. Pure except for the file."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SEED = 20150808
COUNTRIES = 100
CREATE = {
    "load_country": "id INT NOT NULL PRIMARY KEY, name VARCHAR(60) NOT NULL",
    "load_customer": "id INT NOT NULL PRIMARY KEY, country_id INT NOT NULL, note TEXT NOT NULL, KEY (country_id), "
    "CONSTRAINT load_customer_country FOREIGN KEY (country_id) REFERENCES load_country (id)",
    "load_product": "id INT NOT NULL PRIMARY KEY, price DECIMAL(8,2) NOT NULL, note TEXT NOT NULL",
    "load_order": "id INT NOT NULL PRIMARY KEY, customer_id INT NOT NULL, product_id INT NOT NULL, "
    "amount INT NOT NULL, note TEXT NOT NULL, KEY (customer_id), KEY (product_id), "
    "CONSTRAINT load_order_customer FOREIGN KEY (customer_id) REFERENCES load_customer (id), "
    "CONSTRAINT load_order_product FOREIGN KEY (product_id) REFERENCES load_product (id)",
}
REFERENCES = (
    ("load_customer", "country_id", "load_country"),
    ("load_order", "customer_id", "load_customer"),
    ("load_order", "product_id", "load_product"),
)


@dataclass(frozen=True)
class Dump:
    """`parameters` of the workload data_load."""

    parameters: Mapping[str, Any]

    def rows(self) -> dict[str, int]:
        """Table -> rows, in loading order."""
        largest = self.parameters["rows"]
        return {
            "load_country": COUNTRIES,
            "load_customer": max(largest // 10, 1),
            "load_product": max(largest // 20, 1),
            "load_order": largest,
        }

    def expected_bytes(self) -> int:
        """Approximate size of the file."""
        return sum(self.rows().values()) * (int(self.parameters["row_bytes"]) + 40)

    def statements(self) -> Iterator[str]:
        """One statement per line, without line breaks inside."""
        yield f"SET SESSION foreign_key_checks={int(self.parameters['foreign_key_checks'])};\n"
        for table, columns in CREATE.items():
            yield f"CREATE TABLE {table} ({columns}) ENGINE=InnoDB;\n"
        source = random.Random(SEED)  # noqa: S311  (rows, not secrets)
        counts, batch = self.rows(), self.parameters["batch"]
        makers = _makers(source, counts, self.parameters["row_bytes"])
        for table, count in counts.items():
            for first in range(1, count + 1, batch):
                rows = "),(".join(makers[table](row) for row in range(first, min(first + batch, count + 1)))
                yield f"INSERT INTO {table} VALUES ({rows});\n"  # noqa: S608  (made here)

    def write(self, file: Path) -> int:
        """Returns the size in bytes. Raises OSError."""
        with file.open("w", encoding="ascii") as stream:
            return sum(stream.write(statement) for statement in self.statements())


def rows_of(statement: bytes) -> int:
    """Number of rows that a line of the file inserts."""
    return statement.count(b"),(") + 1 if statement.startswith(b"INSERT") else 0


def _makers(source: random.Random, counts: Mapping[str, int], length: int) -> dict[str, Callable[[int], str]]:
    """Table -> function from row id to its values."""
    # All notes are slices of one text: generating each would take longer than loading it.
    text = "".join(source.choices("abcdefghijklmnopqrstuvwxyz ", k=length + 4096))

    def note() -> str:
        start = source.randrange(4096)
        return text[start : start + length]

    def of(table: str) -> int:
        return source.randint(1, counts[table])

    return {
        "load_country": lambda row: f"{row},'country {row}'",
        "load_customer": lambda row: f"{row},{of('load_country')},'{note()}'",
        "load_product": lambda row: f"{row},{source.randrange(100_000) / 100:.2f},'{note()}'",
        "load_order": lambda row: f"{row},{of('load_customer')},{of('load_product')},{source.randint(1, 9)},'{note()}'",
    }
