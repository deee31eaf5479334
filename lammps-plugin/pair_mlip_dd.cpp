#include "pair_mlip_dd.h"

#include <atom.h>
#include <comm.h>
#include <error.h>
#include <force.h>
#include <memory.h>
#include <neigh_list.h>
#include <neighbor.h>
#include <update.h>
#include <utils.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "comm/mpi_communicator.h"
#include "element_map.h"
#include "failure.h"
#include "host_graph.h"
#include "pair_options.h"
#include "pipeline/pipeline.h"
#include "place.h"
#include "potentials/runnable_spec.h"
#include "run_log.h"

namespace LAMMPS_NS {

namespace {

// Which neighbour list build the graph belongs to. Every part is the same on all ranks.
struct BuildMark {
  bigint builds = -1;
  bigint step = -1;
  bool operator==(const BuildMark &) const = default;
};

// Rank among those of its node, for dealing out GPUs. Launchers know it for the whole run; the
// split knows it for this partition.
int rank_on_node(MPI_Comm world)
{
  for (const char *name : {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"})
    if (const char *value = std::getenv(name)) return std::max(0, std::atoi(value));
  MPI_Comm node;
  int world_rank = 0, rank = 0;
  MPI_Comm_rank(world, &world_rank);
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, world_rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &rank);
  MPI_Comm_free(&node);
  return rank;
}

}    // namespace

struct PairMlipDD::State {
  mlip_dd::PairOptions options;
  std::unique_ptr<mlip_dd::RunnableSpec> spec;
  std::vector<std::int32_t> element_of_type;
  std::unique_ptr<mlip_dd::Communicator> communicator;
  std::unique_ptr<mlip_dd::Pipeline> pipeline;    // after the communicator: destroyed before it
  std::vector<std::string> host_fields;           // that any of its models needs
  std::vector<double> step_energies;              // pvector's
  mlip_dd::HostGraph host;
  BuildMark built;
  std::int64_t evaluations = 0;
  bool graph_logged = false;

  // The model whose result for this row is not finite.
  const std::string &name_of_faulty(std::size_t row) const
  {
    for (std::size_t step = 0; step < pipeline->size(); ++step) {
      const mlip_dd::PotentialOutput &own = pipeline->runner(step).output();
      const double *f = &own.forces[3 * row];
      if (!std::isfinite(own.node_energy[row] + f[0] + f[1] + f[2])) return pipeline->name(step);
    }
    return pipeline->name(0);
  }
};

PairMlipDD::PairMlipDD(LAMMPS *lammps) : Pair(lammps)
{
  one_coeff = 1;
  manybody_flag = 1;
  single_enable = 0;
  restartinfo = 0;
  no_virial_fdotr_compute = 1;    // the virial comes from the edges
  centroidstressflag = CENTROID_AVAIL;
  unit_convert_flag = 0;
  comm_forward = mlip_dd::HostGraph::kOwnerNumbers;
}

PairMlipDD::~PairMlipDD()
{
  if (copymode || !allocated) return;
  memory->destroy(setflag);
  memory->destroy(cutsq);
  memory->destroy(cutghost);
}

void PairMlipDD::allocate()
{
  const int n = atom->ntypes + 1;
  allocated = 1;
  memory->create(setflag, n, n, "pair:setflag");
  memory->create(cutsq, n, n, "pair:cutsq");
  memory->create(cutghost, n, n, "pair:cutghost");
}

void PairMlipDD::settings(int narg, char **arg)
{
  // Replaced only when all went well: a host that catches the error goes on with what it had.
  auto fresh = std::make_unique<State>();
  mlip_dd::run_together(lmp, [&] {
    fresh->options = mlip_dd::read_pair_options({arg, static_cast<std::size_t>(narg)});
    fresh->spec = std::make_unique<mlip_dd::RunnableSpec>(fresh->options.spec_file);
    fresh->spec->realise(fresh->options.halo, comm->nprocs);
  });
  if (comm->me == 0)
    for (const std::string &warning : fresh->spec->warnings())
      error->warning(MLIP_DD_PLACE, "mlip/dd: " + warning);
  state_ = std::move(fresh);
  nextra = static_cast<int>(state_->spec->steps());
  state_->step_energies.assign(state_->spec->steps(), 0.0);
  pvector = state_->step_energies.data();
}

void PairMlipDD::coeff(int narg, char **arg)
{
  if (!state_)
    error->all(MLIP_DD_PLACE, "mlip/dd: give a valid `pair_style mlip/dd` before pair_coeff");
  if (!allocated) allocate();
  mlip_dd::run_together(lmp, [&] {
    state_->element_of_type = mlip_dd::read_element_map({arg, static_cast<std::size_t>(narg)},
                                                        atom->ntypes, state_->spec->elements());
  });
  // Under hybrid the flags say which pairs are ours; alone, LAMMPS wants all pairs to be
  // somebody's, and those of NULL types simply do not interact.
  const bool alone = force->pair == this;
  int assigned = 0;
  for (int i = 1; i <= atom->ntypes; ++i)
    for (int j = 1; j <= atom->ntypes; ++j) {
      const bool ours = state_->element_of_type[i] >= 0 && state_->element_of_type[j] >= 0;
      setflag[i][j] = ours || alone;
      assigned += ours;
    }
  if (!assigned)
    error->all(MLIP_DD_PLACE,
               "mlip/dd: pair_coeff names no element. Name one for at least one atom type");

  if (!state_->communicator) state_->communicator = mlip_dd::make_mpi_communicator(world);
  const int local_rank = rank_on_node(world);
  mlip_dd::run_together(lmp, [&] {
    state_->pipeline = state_->spec->make({state_->options.device, state_->options.threads},
                                          *state_->communicator, local_rank);
  });
  state_->host_fields.clear();
  for (const auto &fields : state_->pipeline->wiring().host_fields)
    state_->host_fields.insert(state_->host_fields.end(), fields.begin(), fields.end());
  state_->built = {};
}

void PairMlipDD::refuse_unsupported()
{
  const std::string units = state_->spec->dimensionless() ? "lj" : "metal";
  if (update->unit_style != units)
    error->all(MLIP_DD_PLACE, "mlip/dd: the model {} (found: units {}). Use `units {}`",
               units == "lj" ? "is dimensionless" : "works in eV and Angstrom", update->unit_style,
               units);
  if (!atom->tag_enable)
    error->all(MLIP_DD_PLACE, "mlip/dd: atoms must have IDs. Use `atom_modify id yes`");
  // neighbor->exclude is set later, in Neighbor::init().
  if (neighbor->nex_type || neighbor->nex_group || neighbor->nex_mol)
    error->all(MLIP_DD_PLACE,
               "mlip/dd: `neigh_modify exclude` would remove pairs that the model needs. Remove "
               "it; to leave "
               "atom types out of the model, name them NULL in pair_coeff");
  // Both limits need a first group, and LAMMPS does not tell whether ghosts are limited to it.
  if (neighbor->includegroup || atom->firstgroupname)
    error->all(MLIP_DD_PLACE,
               "mlip/dd: neighbour lists or ghosts limited to a group would hide atoms from the "
               "model. Remove "
               "`atom_modify first`, `neigh_modify include` and `comm_modify group`");
  if (atom->molecular != Atom::ATOMIC && (atom->nbonds || atom->nangles || atom->ndihedrals))
    for (int k = 1; k <= 3; ++k)
      if (force->special_lj[k] == 0.0 && force->special_coul[k] == 0.0)
        error->all(
            MLIP_DD_PLACE,
            "mlip/dd: special_bonds removes pairs of bonded atoms, which the model needs. Use "
            "`special_bonds lj/coul 1.0 1.0 1.0`");
  if (utils::strmatch(update->integrate_style, "^respa"))
    error->all(MLIP_DD_PLACE, "mlip/dd: run_style respa is not supported. Use `run_style verlet`");
}

void PairMlipDD::init_style()
{
  if (!state_ || !state_->pipeline)
    error->all(MLIP_DD_PLACE,
               "mlip/dd: the pair coefficients are not set. Add `pair_coeff * * ELEMENT1 ...`");
  refuse_unsupported();
  int flags = NeighConst::REQ_FULL;
  if (const double reach = state_->pipeline->wide_reach(neighbor->skin); reach > 0.0) {
    flags |= NeighConst::REQ_GHOST;
    ghostneigh = 1;
    if (comm->mode != Comm::SINGLE)
      error->all(MLIP_DD_PLACE,
                 "mlip/dd: `halo wide` needs one ghost cutoff for all types. Use `comm_modify mode "
                 "single`");
    comm->cutghostuser = std::max(comm->cutghostuser, reach);
  }
  neighbor->add_request(this, flags);
  state_->built = {};
  state_->graph_logged = false;
}

double PairMlipDD::init_one(int i, int j)
{
  const double cutoff = state_->pipeline->cutoff();
  cutghost[i][j] = cutghost[j][i] = cutoff;
  return cutoff;
}

int PairMlipDD::pack_forward_comm(int n, int *list, double *buffer, int, int *)
{
  return state_->host.pack_owners(n, list, buffer);
}

void PairMlipDD::unpack_forward_comm(int n, int first, double *buffer)
{
  state_->host.unpack_owners(n, first, buffer);
}

void PairMlipDD::rebuild_if_reneighboured()
{
  const BuildMark now{neighbor->ncalls, neighbor->lastcall};
  if (neighbor->ago != 0 && state_->built == now) return;
  state_->host.read_atoms(*lmp, state_->element_of_type);
  comm->forward_comm(this);
  state_->pipeline->rebuild(state_->host.atoms(*lmp), state_->host.neighbours(*list),
                            neighbor->skin);
  state_->built = now;
}

void PairMlipDD::compute(int eflag, int vflag)
{
  ev_init(eflag, vflag);
  mlip_dd::run_exposed(lmp, [&] {
    rebuild_if_reneighboured();
    mlip_dd::PipelineRequest request;
    request.node_virial = vflag_atom || cvflag_atom;
    state_->pipeline->evaluate(mlip_dd::host_step(*lmp, state_->host_fields), request);
    ++state_->evaluations;
    add_results();
  });
  if (state_->options.log && !state_->graph_logged) {
    log_lines(mlip_dd::describe_graphs(*state_->communicator, *state_->pipeline, neighbor->skin));
    state_->graph_logged = true;
  }
}

// Adds what the model gave to LAMMPS's arrays. LAMMPS's virial is sum x_a F_b, the runner's own
// sign.
void PairMlipDD::add_results()
{
  constexpr int kSymmetric[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  constexpr int kFull[9][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2},
                               {1, 2}, {1, 0}, {2, 0}, {2, 1}};
  const mlip_dd::PotentialOutput &output = state_->pipeline->output();
  const auto symmetric = [](const double *w, int a, int b) {
    return 0.5 * (w[3 * a + b] + w[3 * b + a]);
  };

  if (eflag_global) eng_vdwl += output.energy;
  std::ranges::copy(state_->pipeline->energies(), pvector);
  if (vflag_global)
    for (int k = 0; k < 6; ++k)
      virial[k] += symmetric(output.virial.data(), kSymmetric[k][0], kSymmetric[k][1]);
  for (int i = 0; i < atom->nlocal; ++i) {
    const std::int64_t row = state_->host.row(i);
    if (row == mlip_dd::kNotInModel) continue;
    const double *force = &output.forces[3 * static_cast<std::size_t>(row)];
    const double energy = output.node_energy[static_cast<std::size_t>(row)];
    if (!std::isfinite(energy) || !std::isfinite(force[0] + force[1] + force[2]))
      throw mlip_dd::Error(
          {"the model gave an energy or force that is not a finite number",
           "energy " + std::to_string(energy),
           "step " + std::to_string(update->ntimestep) + ", atom " + std::to_string(atom->tag[i]) +
               ", rank " + std::to_string(comm->me) + ", model " +
               state_->name_of_faulty(static_cast<std::size_t>(row)),
           "Look at the configuration there (atoms too close?), or use a smaller timestep"});
    for (int a = 0; a < 3; ++a) atom->f[i][a] += force[a];
    if (eflag_atom) eatom[i] += energy;
    if (vflag_atom)
      for (int k = 0; k < 6; ++k)
        vatom[i][k] += symmetric(&output.node_virial[9 * static_cast<std::size_t>(row)],
                                 kSymmetric[k][0], kSymmetric[k][1]);
    if (cvflag_atom)
      for (int k = 0; k < 9; ++k)
        cvatom[i][k] +=
            output.node_virial[static_cast<std::size_t>(9 * row + 3 * kFull[k][0] + kFull[k][1])];
  }
}

void PairMlipDD::log_lines(const std::vector<std::string> &lines)
{
  if (comm->me != 0) return;
  for (const std::string &line : lines) utils::logmesg(lmp, line + "\n");
}

void PairMlipDD::finish()
{
  if (!state_ || !state_->options.log || state_->evaluations == 0) return;
  log_lines(mlip_dd::describe_run(*state_->communicator, *state_->pipeline, state_->evaluations));
}

double PairMlipDD::memory_usage()
{
  double bytes = Pair::memory_usage();
  if (!state_ || !state_->pipeline) return bytes;
  for (std::size_t step = 0; step < state_->pipeline->size(); ++step) {
    const mlip_dd::AtomGraph &graph = state_->pipeline->runner(step).graph();
    bytes += static_cast<double>(graph.candidates.capacity() * sizeof(mlip_dd::CandidateEdge) +
                                 graph.receivers.capacity() * 2 * sizeof(std::int64_t) +
                                 graph.vectors.capacity() * sizeof(double));
  }
  return bytes;
}

}    // namespace LAMMPS_NS
