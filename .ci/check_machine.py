"""Says in one sentence what this machine lacks, before anything is downloaded.

It needs nothing installed: the Java check is the library's own, loaded without the packages around it,
whose imports may need what is not there yet. Kept readable for old Pythons, which must get as far as
the sentence.
"""

import os
import sys
import types

if sys.version_info < (3, 11):  # noqa: UP036
    found = ".".join(str(part) for part in sys.version_info[:3])
    sys.exit(
        "skipstone needs Python 3.11 or newer, but %s is Python %s; install one and run "  # noqa: UP031
        "make PYTHON=/path/to/python3.11 setup." % (sys.executable, found)
    )

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "skipstone")
for name, path in (("skipstone", root), ("skipstone.spark", os.path.join(root, "spark"))):
    package = types.ModuleType(name)
    package.__path__ = [path]
    sys.modules[name] = package

from skipstone.spark.find_java import main  # noqa: E402

sys.exit(main())
