"""What is known about blocks, and where it is kept."""

from skipstone.catalog.files import Files
from skipstone.catalog.merge import Catalog, merge
from skipstone.catalog.segment import Segment, decode, encode
from skipstone.catalog.store import FOLDER, FileStore, load, publish, stamp

__all__ = [
    "FOLDER",
    "Catalog",
    "FileStore",
    "Files",
    "Segment",
    "decode",
    "encode",
    "load",
    "merge",
    "publish",
    "stamp",
]
