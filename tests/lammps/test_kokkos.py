"""If these fail, mlip/dd/kk does not give the numbers of mlip/dd: pairs lost or images folded onto the wrong atoms by
its kernels, owners mixed up on the way to ghosts, forces or virials added to the wrong atoms, or an array read before
LAMMPS has brought it up to date. Both styles run in one LAMMPS (--kokkos PREFIX); see also --all-kokkos."""

import json
from dataclasses import replace

import numpy as np
import pytest
import tolerances as tol
import torch
from evaluate import Case, Snapshot, evaluate, largest, require_signal
from pipeline_models import GEOMETRY, Pairs, charges_spec, native_spec, pipeline, scripted_spec, single
from preload import build_preload
from run import launch, read_dump, read_thermo, run, spread
from systems import LATTICE, crystal, molecule, rock_salt, supercell

SALT = rock_salt(2)
SKEWED = supercell(crystal([[LATTICE, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]]), np.diag([2, 2, 2]))[0]
TILED = {"settings": "comm_style tiled", "changes": "balance 1.0 rcb"}
# Argon in some places, out of the model.
GUESTS = replace(SALT, types=np.where(np.arange(len(SALT)) % 7 == 3, 3, SALT.types), elements=("Na", "Cl", "Ar"))
OVERLAY = ("pair_style hybrid/overlay mlip/dd {spec} log yes lj/cut 6.0\npair_coeff * * mlip/dd Na Cl\n"
           "pair_coeff * * lj/cut 0.05 2.5")
HYBRID = ("pair_style hybrid mlip/dd {spec} log yes lj/cut 6.0\npair_coeff * * mlip/dd Na Cl NULL\n"
          "pair_coeff 1*3 3 lj/cut 0.05 2.5")
# What the styles may not differ in; the model is toy3.
WAYS = {
    "plain": {"system": SALT},
    "skewed": {"system": SKEWED},
    "small_box": {"system": rock_salt(1)},
    "molecule": {"system": molecule(boundary="f s p")},    # ranks without atoms
    "no_newton": {"system": SALT, "settings": "newton off"},
    "tiled": {"system": SALT, **TILED},
    "wide": {"system": SALT, "options": "halo wide", "skin": 0.5},
    "padded": {"system": SALT, "options": "halo padded"},
    "null": {"system": GUESTS, "pair": "pair_style mlip/dd {spec} log yes\npair_coeff * * Na Cl NULL"},
    "overlay": {"system": SALT, "pair": OVERLAY},
    "hybrid": {"system": GUESTS, "pair": HYBRID},
}
RANKS = (1, 2, 4)


def relative(found, expected) -> float:
    return largest(np.asarray(found) - np.asarray(expected)) / max(largest(np.asarray(expected)), 1e-300)


def assert_equal(found: Snapshot, expected: Snapshot, within: float, signal: float = tol.SIGNAL_FORCE) -> None:
    """Of the largest value of each kind."""
    assert largest(expected.forces) > signal
    assert largest(expected.pressure) > 0.0
    assert np.array_equal(found.types, expected.types)
    for name in ("energy", "forces", "node_energy", "pressure"):
        assert relative(getattr(found, name), getattr(expected, name)) <= within, name
    if expected.node_virial is not None:
        assert largest(expected.node_virial) > 0.0
        assert relative(found.node_virial, expected.node_virial) <= within
        assert relative(found.centroid_virial, expected.centroid_virial) <= within


def same(kokkos, threads: int = 1) -> float:
    if kokkos.precision != "double":
        return tol.KOKKOS_SINGLE
    return tol.KOKKOS_ONE_THREAD if threads == 1 else tol.KOKKOS_THREADS


def same_after_steps(kokkos) -> float:
    return tol.KOKKOS_TRAJECTORY if kokkos.precision == "double" else tol.KOKKOS_SINGLE_TRAJECTORY


class BothStyles:
    """Cases by the plain style and by the Kokkos variant on the same ranks."""

    def __init__(self, cases, kokkos, folder):
        self._cases, self._kokkos, self._folder, self._known = cases, kokkos, folder, {}

    def plain(self, ranks: int) -> dict[str, Snapshot]:
        return self._of("plain", ranks, self._kokkos.plain())

    def kk(self, ranks: int, threads: int) -> dict[str, Snapshot]:
        return self._of(f"t{threads}", ranks, self._kokkos.kk(threads))

    def host_graphs(self, ranks: int) -> dict[str, Snapshot]:
        """By the Kokkos variant, potentials on the host's arrays where they can be."""
        program = self._kokkos.kk()
        return self._of("host", ranks, replace(program, variables={**program.variables, "MLIP_DD_HOST_GRAPHS": "1"}))

    def _of(self, label, ranks, program):
        key = (label, ranks)
        if key not in self._known:
            self._known[key] = evaluate(self._cases, self._folder / f"{label}_{ranks}", ranks, limit=tol.BATCH_LIMIT,
                                        program=program)
        return self._known[key]


@pytest.fixture(scope="module")
def ways(kokkos, toy3, tmp_path_factory):
    cases = [Case(model=toy3, name=name, node_virial=True, **way) for name, way in WAYS.items()]
    return BothStyles(cases, kokkos, tmp_path_factory.mktemp("ways"))


@pytest.mark.parametrize("ranks, threads", [*((ranks, 1) for ranks in RANKS), (1, 2), (2, 2),
                                            pytest.param(4, 2, marks=pytest.mark.whole)])
@pytest.mark.parametrize("name", WAYS)
def test_same_as_the_plain_style(name, ranks, threads, ways, kokkos):
    found, expected = ways.kk(ranks, threads)[name], ways.plain(ranks)[name]
    assert_equal(found, expected, same(kokkos, threads))
    if name != "molecule":
        assert len(set(found.ranks)) == ranks


def test_the_log_tells_which_variant_ran(ways):
    assert "KOKKOS on OpenMP" in ways.kk(1, 1)["plain"].log and "KOKKOS on" not in ways.plain(1)["plain"].log


@pytest.mark.parametrize("name", ["toy_single", "sevennet"])
def test_float32(name, kokkos, request, tmp_path):
    cases = [Case(SALT, request.getfixturevalue(name), "single")]
    expected = evaluate(cases, tmp_path / "plain", 2, program=kokkos.plain())["single"]
    found = evaluate(cases, tmp_path / "kk", 2, program=kokkos.kk())["single"]
    require_signal(expected)
    of_positions = 0.0 if kokkos.precision == "double" else tol.KOKKOS_SINGLE
    assert largest(found.forces - expected.forces) <= tol.SINGLE_FORCE + of_positions * largest(expected.forces)
    assert abs(found.energy - expected.energy) <= (tol.SINGLE_ENERGY + of_positions) * abs(expected.energy)


@pytest.mark.parametrize("package", ["neigh half newton on", "neigh full newton off comm host"])
def test_options_of_the_package(package, kokkos, toy3, tmp_path):
    cases = [Case(SALT, toy3, "model", node_virial=True), Case(SALT, toy3, "overlay", pair=OVERLAY, node_virial=True)]
    expected = evaluate(cases, tmp_path / "plain", 2, program=kokkos.plain())
    found = evaluate(cases, tmp_path / "kk", 2, program=kokkos.kk(1, package))
    for name in expected:
        assert_equal(found[name], expected[name], same(kokkos))


# --- Every kind of potential, and results beside energies and forces -------------------------------------------

def dispersion(reference, **parameters) -> dict:
    return native_spec("dftd3", 8.0, functional="pbe", damping="bj", reference=str(reference), **parameters)


def strength_spec(folder) -> dict:
    return scripted_spec(folder, "pairs", Pairs(), 4.0, ("edge_index", "edge_vectors", "strength"), ("node_energy",))


# Of those above, with potentials that lay out their own pairs on the device.
PAIR_WAYS = ("skewed", "small_box", "molecule", "no_newton", "tiled", "null", "overlay", "hybrid")
IN_ALL_WAYS = [(potential, way) for potential in ("lj", "dftd3", "ewald", "pme") for way in PAIR_WAYS
               if way != "molecule" or potential in ("lj", "dftd3")]    # the others are periodic
DISPERSION = 1e-3    # eV/A, forces of dftd3 in the crystal
# What the model Pairs takes of each atom.
CARRIED = "fix 3 all property/atom d_strength\nset type 1 d_strength 0.7\nset type 2 d_strength -0.4\n"


def potentials(folder, toy3, reference) -> dict[str, Case]:
    charges = charges_spec(folder)
    strength = strength_spec(folder)
    lj = native_spec("lj", 6.0, epsilon=[[0.01, 0.007], [0.007, 0.005]], sigma=[[3.3, 2.7], [2.7, 2.4]])
    toy = {"spec": "SPEC_MPNN_HALO", "model": {**toy3.fields, "file": str(toy3.file)}}
    cases = {
        "lj": single(folder, "lj_alone", lj),
        "ewald": single(folder, "ewald", native_spec("ewald", 5.0, accuracy=1e-6)),
        "pme": single(folder, "pme", native_spec("pme", 5.0, accuracy=1e-6)),
        "dftd3": single(folder, "dftd3", dispersion(reference, cn_cutoff=7.0)),
        # Two summed, and three of them.
        "sum": pipeline(folder, "sum", {"toy": toy, "lj": lj}),
        "mixed": pipeline(folder, "mixed", {"toy": toy, "lj": lj, "ewald": native_spec("ewald", 5.0, accuracy=1e-6)}),
        "one_type": single(folder, "one_type", native_spec("lj", 6.0, epsilon=0.01, sigma=2.7)),
        "twice": pipeline(folder, "twice", {"toy": toy, "again": toy}),
        # Charges of one model in another, with the gradient on the way back.
        "wired": pipeline(folder, "wired", {"charges": charges, "pairs": strength}, {
            "steps": ["charges", {"model": "pairs", "wire": {"strength": "charges.charges"}}], "autograd": True}),
        # The same from a model to a potential without one, moved to neutral charges.
        "to_sum": pipeline(folder, "to_sum", {"charges": charges, "sum": native_spec("ewald", 5.0, accuracy=1e-6)}, {
            "steps": ["charges", {"model": "sum", "wire": {"charges": "charges.charges"}, "neutralize": "shift"}],
            "autograd": True}),
    }
    kinds = {name: Case(SALT, model, name, style="charge", node_virial=True) for name, model in cases.items()}
    for potential, way in IN_ALL_WAYS:
        name = f"{potential}_{way}"
        kinds[name] = Case(model=cases[potential], name=name, style="charge", node_virial=True, **WAYS[way])
    return {**kinds, "carried": Case(SALT, single(folder, "carried", strength), "carried", style="charge",
                                     changes=CARRIED, node_virial=True)}


@pytest.fixture(scope="module")
def kinds(kokkos, toy3, reference, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds")
    return BothStyles(list(potentials(folder, toy3, reference).values()), kokkos, folder)


@pytest.mark.parametrize("ranks, threads", [(1, 1), (2, 1), (2, 2)])
@pytest.mark.parametrize("name", ["lj", "ewald", "pme", "dftd3", "sum", "mixed", "twice", "wired", "to_sum", "carried",
                                  "one_type", *(f"{potential}_{way}" for potential, way in IN_ALL_WAYS)])
def test_every_kind_of_potential(name, ranks, threads, kinds, kokkos):
    signal = DISPERSION if name.startswith("dftd3") else tol.SIGNAL_FORCE
    assert_equal(kinds.kk(ranks, threads)[name], kinds.plain(ranks)[name], same(kokkos, threads), signal)


# As with `device cpu` beside a GPU.
@pytest.mark.parametrize("name", ["lj", "ewald", "pme", "dftd3", "mixed", "wired", "to_sum"])
def test_potentials_on_the_hosts_arrays(name, kinds, kokkos):
    found, expected = kinds.host_graphs(2)[name], kinds.plain(2)[name]
    assert "host's graphs" in found.log and "host's graphs" not in kinds.kk(2, 1)[name].log
    assert_equal(found, expected, same(kokkos), DISPERSION if name == "dftd3" else tol.SIGNAL_FORCE)


# --- Runs -------------------------------------------------------------------------------------------------------

def trajectory(case: Case, folder, program, steps: int):
    """Positions each step, and the table of energies, of a hot crystal that is reneighboured often."""
    folder.mkdir(parents=True, exist_ok=True)
    text = case.setup(folder) + f"""
velocity all create 1500 87287 loop geom mom yes
neigh_modify every 1 delay 0 check yes
fix 1 all nve
timestep 0.001
thermo_style custom step etotal pe
thermo_modify norm no format float %.17g
thermo 1
dump 1 all custom 1 moves.dump id x y z vx
dump_modify 1 sort id format float %.17g
run 20
undump 1
run {steps - 20}
"""
    outcome = run(text, folder, 2, limit=tol.BATCH_LIMIT, program=program)
    builds = [int(line.split("=")[1]) for line in outcome.output.splitlines() if "Neighbor list builds" in line]
    return read_dump(folder / "moves.dump"), read_thermo(outcome.output), builds, outcome.output


@pytest.fixture(params=["toy2", "lj", "dftd3", "salt"])
def moved(request, tmp_path):
    """A model with exchanges, and potentials that lay out their own pairs on the device, one of them with exchanges."""
    lj = native_spec("lj", 6.0, epsilon=0.15, sigma=[[2.6, 2.5], [2.5, 2.4]], switch_width=1.5)
    if request.param == "toy2":
        return request.getfixturevalue("toy2")
    if request.param == "dftd3":
        return single(tmp_path, "dftd3", dispersion(request.getfixturevalue("reference"), switch_width=1.5))
    if request.param == "salt":
        charges = native_spec("pme", 5.0, accuracy=1e-6, charges=[0.4, -0.4])
        return pipeline(tmp_path, "salt", {"lj": lj, "pme": charges})
    return single(tmp_path, "lj", lj)


def test_same_trajectory(kokkos, moved, tmp_path):
    case = Case(rock_salt(2, amplitude=0.02), moved, skin=0.3)
    expected, plain_tables, _, _ = trajectory(case, tmp_path / "plain", kokkos.plain(), 25)
    found, tables, builds, output = trajectory(case, tmp_path / "kk", kokkos.kk(2), 500)
    assert builds[-1] > 20, builds
    # What a step asks of the device is in the log; with one memory for both, nothing is copied.
    given = json.loads(moved.spec.read_text()).get("model", {})    # of a pipeline: not one
    exchanging = "file" in given or given.get("potential") == "dftd3"
    assert spread(output, "kernels of Kokkos")[-1][0] >= (3 if "file" in given else 1)
    assert (spread(output, "exchanges")[-1][0] > 0) == exchanging
    assert spread(output, "bytes host-device")[-1] == (0.0, 0.0, 0.0)
    for here, there in zip(found, expected, strict=True):
        assert largest(here.vectors("x", "y", "z") - there.vectors("x", "y", "z")) <= same_after_steps(kokkos)
    assert largest(found[-1].vectors("x", "y", "z") - found[0].vectors("x", "y", "z")) > 0.05
    assert relative(tables[0]["PotEng"], plain_tables[0]["PotEng"]) <= same_after_steps(kokkos)
    energy = tables[1]["TotEng"]
    # Verlet's own error at this timestep swings with the kinetic energy; a lost pair would show as a step or a drift.
    swing = np.ptp(tables[1]["PotEng"])
    assert np.ptp(energy) < 0.02 * swing and abs(energy[-50:].mean() - energy[:50].mean()) < 0.005 * swing


def test_changing_boxes_and_atoms(kokkos, moved, tmp_path):
    """Deformed, thinned out and filled up again; then read from a restart file by either style."""
    text = """
fix 1 all nve
fix 2 all deform 1 x scale 1.05 remap x
run 10
unfix 2
group some id 3 8 11
delete_atoms group some
create_atoms 1 single 2.7 2.9 2.5
velocity all create 300 11 loop all
run 10
write_restart state.restart
"""
    outputs = {}
    for label, program in (("plain", kokkos.plain()), ("kk", kokkos.kk())):
        folder = tmp_path / label
        folder.mkdir()
        case = Case(rock_salt(2, amplitude=0.02), moved)
        outputs[label] = run(case.setup(folder) + "thermo 1\n" + text, folder, 2, program=program)
        again = f"read_restart ../{label}/state.restart\nthermo_style custom step pe\n" \
                "thermo_modify norm no format float %.17g\nrun 0\n"
        for other, reader in (("plain", kokkos.plain()), ("kk", kokkos.kk())):
            outputs[label, other] = run(again, tmp_path / f"{label}_{other}", 1, program=reader)
    ends = {key: read_thermo(outcome.output)[-1]["PotEng"][-1] for key, outcome in outputs.items()}
    assert abs(ends["plain"]) > 1.0
    for value in ends.values():
        assert abs(value - ends["plain"]) <= same_after_steps(kokkos) * abs(ends["plain"])


@pytest.mark.parametrize("suffix", ["", "/kk", "/kk/device", "/kk/host"])
def test_pair_style_given_twice(suffix, kokkos, tmp_path):
    """The models of the second are used with what belongs to it; each time an output per atom is asked for."""
    tmp_path.joinpath("models").mkdir()
    charges = single(tmp_path / "models", "charges", charges_spec(tmp_path / "models"))
    case = Case(SALT, charges, style="charge", pair=f"pair_style mlip/dd{suffix} {{spec}}\npair_coeff * * Na Cl")
    again = (f"fix out all pair 1 mlip/dd{suffix} charges 0\nrun 2\nvariable first equal c_potential[1]\n"
             "variable kept equal ${first}\nunfix out\n" + case.pair_commands()
             + f"\nfix out all pair 1 mlip/dd{suffix} charges 0\nrun 2\n"
             "compute most all reduce max f_out\nrun 0\n"
             'print "TWICE $(v_kept:%.17g) $(c_potential[1]:%.17g) $(c_most:%.17g)"\n')
    program = kokkos.kk() if suffix else kokkos.plain()
    output = run(case.setup(tmp_path) + again, tmp_path, 2, program=program).output
    first, second, most = (float(word) for word in output.split("\nTWICE ")[1].split()[:3])
    assert abs(first) > tol.SIGNAL_PRESSURE and most > 0.1
    assert abs(second - first) <= tol.KOKKOS_ONE_THREAD * abs(first)


# LAMMPS sends the charges from the host, or from where Kokkos has them.
@pytest.mark.parametrize("package", ["comm/pair/forward no", "comm/pair/forward device"])
def test_outputs_of_atoms(package, kokkos, tmp_path):
    """By fix pair, and the model's charges given to the atoms, ghosts too, where another style reads them."""
    results = {}
    for label, program in (("plain", kokkos.plain()), ("kk", kokkos.kk(1, package))):
        folder = tmp_path / label
        folder.mkdir()
        model = single(folder, "charges", charges_spec(folder))
        pair = ("pair_style hybrid/overlay mlip/dd {spec} charges to_q log yes coul/cut 5.0\n"
                "pair_coeff * * mlip/dd Na Cl\npair_coeff * * coul/cut")
        case = Case(SALT, model, style="charge", pair=pair)
        text = case.setup(folder) + ("fix out all pair 1 mlip/dd charges 0\nfix move all nve\nrun 5\n"
                                     "write_dump all custom q.dump id q f_out fx fy fz modify format float %.17g\n")
        run(text, folder, 2, program=program)
        results[label] = read_dump(folder / "q.dump")[-1].columns
    assert np.ptp(results["plain"]["q"]) > 0.1
    for column, values in results["plain"].items():
        assert relative(results["kk"][column], values) <= same_after_steps(kokkos), column
    # What fix pair gives is the model's own; atoms hold it in LAMMPS's precision.
    rounding = 0.0 if kokkos.precision == "double" else tol.KOKKOS_SINGLE
    assert relative(results["kk"]["q"], results["kk"]["f_out"]) <= rounding


# --- Failures ---------------------------------------------------------------------------------------------------

def test_the_style_without_kokkos_is_refused(kokkos, toy3, tmp_path):
    case = Case(rock_salt(1), toy3, pair="pair_style mlip/dd/kk {spec}\npair_coeff * * Na Cl")
    outcome = launch(case.script(tmp_path), tmp_path, 2, limit=tol.ERROR_LIMIT, program=kokkos.plain())
    assert outcome.status != 0 and len(outcome.error_lines) == 1
    assert "-k on" in outcome.error_lines[0]


# Answers for LAMMPS of how its KOKKOS was built.
OTHER_KOKKOS = """
#include <dlfcn.h>
#include <cstring>
extern "C" int lammps_config_accelerator(const char *package, const char *category, const char *setting)
{
  if (std::strcmp(category, "CATEGORY") == 0) return std::strcmp(setting, "SETTING") == 0;
  using Ask = int(const char *, const char *, const char *);
  return reinterpret_cast<Ask *>(dlsym(RTLD_NEXT, "lammps_config_accelerator"))(package, category, setting);
}
"""


def test_a_kokkos_of_another_build_is_refused(kokkos, toy3, tmp_path):
    precision = "mixed" if kokkos.precision == "double" else "double"
    others = {
        ("precision", precision): [f"KOKKOS in precision {kokkos.precision}", f"found: {precision}",
                                   f"-D MLIP_DD_KOKKOS_PRECISION={precision.upper()}"],
        ("layout", "default"): ["view layout legacy", "found: default", "-D MLIP_DD_KOKKOS_LAYOUT=DEFAULT"],
        ("api", "cuda"): ["KOKKOS without CUDA", "found: with CUDA"],
    }
    for (category, setting), words in others.items():
        folder = tmp_path / setting
        folder.mkdir()
        library = build_preload(OTHER_KOKKOS.replace("CATEGORY", category).replace("SETTING", setting), folder)
        outcome = launch(Case(rock_salt(1), toy3).script(folder), folder, 2, limit=tol.ERROR_LIMIT,
                         program=kokkos.kk(), variables={"LD_PRELOAD": str(library)})
        assert outcome.status != 0 and len(outcome.error_lines) == 1, outcome.output
        missing = [word for word in ("built for", *words, "-D MLIP_DD_KOKKOS_LAMMPS=<its prefix>")
                   if word not in outcome.error_lines[0]]
        assert not missing, (missing, outcome.error_lines[0])


class Poles(torch.nn.Module):
    def forward(self, types: torch.Tensor, edge_index: torch.Tensor, edge_vectors: torch.Tensor):
        squared = (edge_vectors * edge_vectors).sum(1)
        return torch.zeros_like(types, dtype=torch.float64).index_add(0, edge_index[0], 1.0 / squared)


def test_a_result_that_is_no_number(kokkos, tmp_path):
    """Two atoms on one place: the step ends with the atom's name, found on the device."""
    system = rock_salt(2)
    system.positions[5] = system.positions[4]
    model = single(tmp_path, "poles", scripted_spec(tmp_path, "poles", Poles(), 4.0, GEOMETRY, ("node_energy",)))
    outcome = launch(Case(system, model).script(tmp_path), tmp_path, 2, limit=tol.ERROR_LIMIT, program=kokkos.kk())
    assert outcome.status != 0 and len(outcome.error_lines) == 1, outcome.output
    for word in ("not a finite number", "atom", "step 0"):
        assert word in outcome.error_lines[0]


# --- Arrays brought up to date ----------------------------------------------------------------------------------

SPY = r"""
// Stands before LAMMPS's functions by which arrays are brought up to date, and tells of each call, and who calls.
#include <dlfcn.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#define SPY(name) \
  extern "C" void name(void *atoms, int space, std::uint64_t mask) { \
    using Call = void(void *, int, std::uint64_t); \
    static Call *next = reinterpret_cast<Call *>(dlsym(RTLD_NEXT, #name)); \
    Dl_info caller{}; \
    dladdr(__builtin_return_address(0), &caller); \
    const char *who = std::strstr(caller.dli_fname, "mlip_dd") ? "ours" : "LAMMPS"; \
    std::fprintf(stdout, "SPY %s %d %llx %s\n", #name, space, (unsigned long long)mask, who); \
    next(atoms, space, mask); \
  }
SPY(_ZN9LAMMPS_NS10AtomKokkos4syncENS_14ExecutionSpaceEm)
SPY(_ZN9LAMMPS_NS10AtomKokkos8modifiedENS_14ExecutionSpaceEm)
"""
# LAMMPS's atom_masks.h.
X, F, TYPE, MASK, Q, ENERGY, VIRIAL = 0x1, 0x4, 0x10, 0x20, 0x80, 0x8000, 0x10000
PROPERTIES = 0x8000000000 | 0x20000000000    # one number each, and several
HOST, KOKKOS, DEVICE = 0, 1, 2


@pytest.fixture(scope="module")
def spy(tmp_path_factory):
    return build_preload(SPY, tmp_path_factory.mktemp("spy"))


def calls_of(output: str, callers=("ours", "LAMMPS")) -> set[tuple[str, int, int]]:
    """sync or modified, where (0: LAMMPS's own arrays, 1 and 2: Kokkos's), which arrays."""
    words = [line.split()[1:] for line in output.splitlines() if line.startswith("SPY ")]
    return {("sync" if "4sync" in name else "modified", int(space), int(mask, 16))
            for name, space, mask, caller in words if caller in callers}


def test_arrays_are_brought_up_to_date(kokkos, spy, toy3, reference, tmp_path):
    """With one memory for host and device a missing call changes no number, so the calls themselves are watched."""
    charged = single(tmp_path, "charges", charges_spec(tmp_path))
    to_q = "pair_style mlip/dd {spec} charges to_q log yes\npair_coeff * * Na Cl"
    cases = {"model": Case(rock_salt(1), toy3), "to_q": Case(rock_salt(1), charged, style="charge", pair=to_q),
             "carried": Case(rock_salt(1), single(tmp_path, "carried", strength_spec(tmp_path)), changes=CARRIED),
             "pairs": Case(rock_salt(1), single(tmp_path, "lj", native_spec("lj", 6.0, epsilon=0.01, sigma=2.7))),
             "dispersion": Case(rock_salt(1), single(tmp_path, "dftd3", dispersion(reference))),
             "mesh": Case(rock_salt(1), single(tmp_path, "pme", native_spec("pme", 5.0)), style="charge")}
    found, ours = {}, {}
    for name, case in cases.items():
        folder = tmp_path / name
        folder.mkdir()
        outcome = run(case.setup(folder) + "run 1\n", folder, program=kokkos.kk(), variables={"LD_PRELOAD": str(spy)})
        found[name] = calls_of(outcome.output)
        # A function's last call may pass for one of its caller's.
        ours[name] = calls_of(outcome.output, callers=["ours"])
    for calls in found.values():
        assert ("sync", KOKKOS, X | F | TYPE | MASK | ENERGY | VIRIAL) in calls
        assert ("modified", KOKKOS, F) in calls
    # What models take from atoms and give to them stays where Kokkos has it.
    assert ("sync", KOKKOS, Q) in found["to_q"] and ("modified", KOKKOS, Q) in found["to_q"]
    assert ("modified", DEVICE, Q) in found["to_q"], "after those of ghosts have come"
    assert ("sync", KOKKOS, PROPERTIES) in found["carried"]
    assert ("sync", KOKKOS, Q) in found["mesh"]
    for name in cases:
        assert ours[name] and all(space != HOST for _, space, _ in ours[name]), name
    assert ("modified", KOKKOS, Q) not in found["model"] | found["carried"]
