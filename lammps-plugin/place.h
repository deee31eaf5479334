// LAMMPS's error functions want a file and a line. FLERR would give the path on the machine that
// compiled us, which helps nobody and keeps compiler caches from recognising the same source
// elsewhere.
#pragma once

#define MLIP_DD_PLACE "mlip-dd", __LINE__
