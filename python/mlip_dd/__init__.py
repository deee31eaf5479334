"""mlip-dd: domain decomposition for machine-learned potentials in LAMMPS.

The work is done by the LAMMPS plugin, in C++; this package carries it and exports models for it.
Importing it is cheap: LAMMPS's start-up does so once per rank.
"""
