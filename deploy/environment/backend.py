"""How pip builds the package: by setuptools, with the data files of an editable one.

setuptools means to install those ("data" in its ``editable_wheel``), but asks for a
method that no distribution has.
"""

from setuptools.build_meta import *  # noqa: F403
from setuptools.dist import Distribution

if not hasattr(Distribution, "has_data"):
    Distribution.has_data = Distribution.has_data_files
