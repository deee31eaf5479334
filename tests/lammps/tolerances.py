"""What counts as equal, and why. Every comparison of this suite takes its number from here."""

# A float64 model on another number of ranks sums the same terms in another order. Energies of a few hundred
# atoms (about -100 eV) then agree to some 1e-15 of themselves, forces (about 1 eV/A) to 1e-14 eV/A; the room
# above is for long sums and for strongly repelling atoms.
DOUBLE_ENERGY = 1e-12           # relative
DOUBLE_FORCE = 1e-10            # eV/A
DOUBLE_NODE_ENERGY = 1e-10      # eV
DOUBLE_PRESSURE = 1e-12         # eV/A^3; a few eV of virial, rounded at 1e-13, over hundreds of A^3
DOUBLE_NODE_VIRIAL = 1e-9       # eV; forces' tolerance times a distance of some Angstrom

# A float32 model rounds each feature at 6e-8; SevenNet-0's forces then scatter by about 5e-7 eV/A between
# decompositions, and those of its own calculator by as much.
SINGLE_ENERGY = 1e-6            # relative
SINGLE_FORCE = 5e-6             # eV/A
SINGLE_NODE_ENERGY = 5e-6       # eV; features of the last layer, about -3 eV, in float32
SINGLE_PRESSURE = 1e-6          # eV/A^3
CALCULATOR_FORCE = 1e-5         # eV/A; other sums, other order of edges
CALCULATOR_STRESS = 1e-6        # eV/A^3

# Families of models, whose sums of many terms of both signs round more than SevenNet-0's: between decompositions, and
# against the packages, which add in another order.
FAMILY_SINGLE_ENERGY = 2e-6     # relative
FAMILY_SINGLE_FORCE = 2e-5      # eV/A
FAMILY_SINGLE_PRESSURE = 2e-6   # eV/A^3

# MACE's repulsion multiplies nuclear charges in torch's default dtype, float32 in LAMMPS and float64 in the package's
# calculator: some eV rounded at 3e-8, where atoms are close.
REPULSION_ENERGY = 1e-9         # relative to the whole energy
REPULSION_FORCE = 1e-7          # eV/A
REPULSION_PRESSURE = 1e-9       # eV/A^3

# Fourth-order central differences with steps of 2e-3: error of the formula below 1e-9 for a model whose
# energy varies over tenths of an Angstrom; rounding, 1e-14 eV over 2e-3 A, below 1e-10 eV/A.
DERIVATIVE = 1e-6               # relative to the root mean square of what is compared
DISPLACEMENT_STEP = 2e-3        # Angstrom
STRAIN_STEP = 5e-4              # dimensionless: moves neighbours at 4 A by the same 2e-3 A

# Two trajectories from one start, whose forces differ by rounding, part exponentially: over 100 steps of an
# NaCl crystal at a few hundred kelvin a difference of 1e-14 stays far below this.
TRAJECTORY = 1e-8               # Angstrom, eV per atom, relative for pressures

# Drift of the total energy, as the slope of a straight line through it.
DRIFT_DOUBLE = 1e-7             # eV/ps per atom
DRIFT_SINGLE = 1e-5             # eV/ps per atom; float32 forces are not exactly a gradient

# A leak of one tensor of node features a step would add 60 MiB in the 200 steps watched of SevenNet-0 (0.3 MB
# each), 90 MiB in the toy's 4,900. Samples fall anywhere in a step, whose own tensors take 80 MiB.
RESIDENT_GROWTH = 20.0          # MiB on both ranks, from step 100 to the end
STEP_TIME_RATIO = 3.0           # slowest step after the tenth over the median

# The Kokkos variant adds the same terms as the plain style in another order of neighbours; with several threads its
# models' own sums are split as well.
KOKKOS_ONE_THREAD = 1e-12       # relative to the largest value of the kind
KOKKOS_THREADS = 1e-10
KOKKOS_TRAJECTORY = 1e-9        # Angstrom after 20 steps, and relative for energies
# Where LAMMPS was built so that Kokkos has positions in float32: at 8 to 16 A they are rounded by 5e-7 A, forces of
# some 10 eV/A^2 times that. A trajectory is rounded in each step.
KOKKOS_SINGLE = 1e-4            # relative to the largest value of the kind
KOKKOS_SINGLE_TRAJECTORY = 1e-4 # Angstrom after 20 steps, and relative for energies

# A comparison proves something only where there is something to see.
SIGNAL_FORCE = 0.05             # eV/A, largest component
SIGNAL_NODE_ENERGY = 1e-3       # eV, spread over atoms
SIGNAL_PRESSURE = 1e-5          # eV/A^3, largest component

BAR = 1.0 / 1.602176634e6       # eV/A^3; from the 2019 SI value of the elementary charge
LAMMPS_BAR = 1.0 / 1.6021765e6  # eV/A^3 in LAMMPS's metal units (force->nktv2p)

RUN_LIMIT = 60.0                # s for any call of lmp: a longer one hangs
BATCH_LIMIT = 240.0             # s for a dozen evaluations in one call, or a run of some hundred steps
ERROR_LIMIT = 30.0              # s for a run that must end with an error
