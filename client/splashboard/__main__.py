"""`python -m splashboard`."""

import sys

from splashboard.cli import main

sys.exit(main())
