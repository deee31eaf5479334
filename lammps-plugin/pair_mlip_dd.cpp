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

#include "atom_outputs.h"
#include "base/error.h"
#include "base/fingerprint.h"
#include "citations.h"
#include "comm/mpi_communicator.h"
#include "element_map.h"
#include "extracted_values.h"
#include "failure.h"
#include "pair_state.h"
#include "place.h"
#include "run_log.h"

namespace LAMMPS_NS {

namespace {

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

PairMlipDD::PairMlipDD(LAMMPS *lammps)
    : Pair(lammps),
      outputs_(std::make_unique<mlip_dd::AtomOutputs>()),
      extracted_(std::make_unique<mlip_dd::ExtractedValues>())
{
  one_coeff = 1;
  manybody_flag = 1;
  single_enable = 0;
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

// Reads the spec and all else that needs no model. Throws Error on the ranks where it
// fails.
std::unique_ptr<PairMlipDD::State> PairMlipDD::make_state(const std::vector<std::string> &arguments)
{
  auto fresh = std::make_unique<State>();
  fresh->arguments = arguments;
  fresh->options = mlip_dd::read_pair_options(arguments);
  if (fresh->options.threads == 0) fresh->options.threads = default_threads();
  fresh->spec = std::make_unique<mlip_dd::RunnableSpec>(fresh->options.spec_file);
  if (fresh->options.committee_every > 0 && !fresh->spec->committee())
    throw mlip_dd::Error({"`committee every` needs a committee", "one model file",
                          fresh->options.spec_file + ", /model/file",
                          "List its members there, or remove the keyword"});
  fresh->spec->realise(fresh->options.halo, comm->nprocs);
  // Files may be large, and are the same for all.
  if (comm->me == 0) fresh->fingerprint = mlip_dd::fingerprint_of(fresh->spec->files());
  return fresh;
}

void PairMlipDD::adopt(std::unique_ptr<State> fresh)
{
  if (comm->me == 0)
    for (const std::string &warning : fresh->spec->warnings())
      error->warning(MLIP_DD_PLACE, "mlip/dd: " + warning);
  fresh->communicator = mlip_dd::make_mpi_communicator(world);
  state_ = std::move(fresh);
  state_->fingerprint.resize(mlip_dd::kFingerprintLength);
  state_->communicator->broadcast(state_->fingerprint.data(), state_->fingerprint.size(), 0);
  nextra = static_cast<int>(state_->spec->steps());
  // Never shorter: a compute pair made before keeps on reading as many as there were.
  step_energies_.assign(std::max(step_energies_.size(), state_->spec->steps()), 0.0);
  pvector = step_energies_.data();
}

void PairMlipDD::settings(int narg, char **arg)
{
  // Replaced only when all went well: a host that catches the error goes on with what it had.
  std::unique_ptr<State> fresh;
  mlip_dd::run_together(lmp, [&] { fresh = make_state({arg, arg + narg}); });
  adopt(std::move(fresh));
  if (restored_) restored_->given_anew = true;
}

void PairMlipDD::coeff(int narg, char **arg)
{
  if (!state_)
    error->all(MLIP_DD_PLACE, "mlip/dd: give a valid `pair_style mlip/dd` before pair_coeff");
  mlip_dd::run_together(lmp, [&] {
    state_->element_of_type = mlip_dd::read_element_map({arg, static_cast<std::size_t>(narg)},
                                                        atom->ntypes, state_->spec->elements());
  });
  load_models({arg + 2, arg + narg});
}

// After element_of_type.
void PairMlipDD::load_models(const std::vector<std::string> &element_names)
{
  if (!allocated) allocate();
  state_->element_names = element_names;
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

  const int local_rank = rank_on_node(world);
  state_->set_up = false;
  state_->pipeline.reset();
  std::unique_ptr<mlip_dd::Pipeline> made;
  mlip_dd::run_together(lmp, [&] {
    mlip_dd::PotentialOptions options;
    options.device = device();
    options.threads = state_->options.threads;
    options.messages = state_->options.mpi;
    made = state_->spec->make(options, *state_->communicator, local_rank);
    outputs_->set_source(
        *made, state_->spec->committee() ? std::max(1, state_->options.committee_every) : 0);
    extracted_->set_source(*made);
    if (state_->options.charges_to_q) require_charges();
  });
  state_->pipeline = std::move(made);
  state_->host_fields.clear();
  for (const auto &fields : state_->pipeline->wiring().host_fields)
    state_->host_fields.insert(state_->host_fields.end(), fields.begin(), fields.end());
  state_->built = {};
  mlip_dd::cite(*lmp, state_->spec->citations());
}

void PairMlipDD::require_charges() const
{
  const auto refuse = [](const std::string &found, const std::string &cure) {
    throw mlip_dd::Error(
        {"`charges to_q` needs charges made by the model, and atoms that hold them", found,
         "pair_style mlip/dd", cure});
  };
  if (!outputs_->knows("charges"))
    refuse("no output \"charges\"", "Name it in /model/outputs, or remove the keyword");
  if (outputs_->knows("d_energy_d_charges"))
    refuse("a model that takes its charges from the atoms", "Remove the keyword");
  if (!atom->q_flag) refuse("atoms without charges", "Use `atom_style charge` or `full`");
}

void PairMlipDD::init_style()
{
  if (restored_) make_from_restart();
  if (!state_ || !state_->pipeline)
    error->all(MLIP_DD_PLACE,
               "mlip/dd: the pair coefficients are not set. Add `pair_coeff * * ELEMENT1 ...`");
  refuse_unsupported();
  if (state_->stopped) load_models(std::vector<std::string>(state_->element_names));
  state_->stopped = false;
  mlip_dd::run_together(lmp, [&] {
    state_->units = mlip_dd::host_units(update->unit_style, state_->spec->dimensionless());
  });
  const double length = state_->units.length;
  cutoff_ = state_->pipeline->cutoff() / length;
  int flags = NeighConst::REQ_FULL;
  if (const double reach = state_->pipeline->wide_reach(neighbor->skin * length) / length;
      reach > 0.0) {
    flags |= NeighConst::REQ_GHOST;
    ghostneigh = 1;
    if (comm->mode != Comm::SINGLE)
      error->all(MLIP_DD_PLACE,
                 "mlip/dd: `halo wide` needs one ghost cutoff for all types. Use `comm_modify mode "
                 "single`");
    comm->cutghostuser = std::max(comm->cutghostuser, reach);
  }
  neighbor->add_request(this, flags);
  state_->set_up = true;
  state_->built = {};
  state_->told = false;
}

double PairMlipDD::init_one(int i, int j)
{
  cutghost[i][j] = cutghost[j][i] = cutoff_;
  return cutoff_;
}

bool PairMlipDD::rebuilds_now() const
{
  return neighbor->ago == 0 || state_->built != BuildMark{neighbor->ncalls, neighbor->lastcall};
}

// Collective. Where LAMMPS has new neighbour lists since the last rebuild: ghosts learn their
// owners.
bool PairMlipDD::find_owners_anew()
{
  if (!rebuilds_now()) return false;
  refuse_removed_pairs();
  find_owners();
  state_->built = {neighbor->ncalls, neighbor->lastcall};
  return true;
}

void PairMlipDD::find_owners()
{
  mlip_dd::run_together(lmp, [&] { state_->host.read_atoms(*lmp, state_->element_of_type); });
  comm->forward_comm(this, mlip_dd::HostGraph::kOwnerNumbers);
}

void PairMlipDD::rebuild_graphs()
{
  state_->pipeline->rebuild(state_->host.atoms(*lmp, state_->units), state_->host.neighbours(*list),
                            neighbor->skin * state_->units.length);
}

mlip_dd::HostStep PairMlipDD::present_step()
{
  return state_->host.step(*lmp, state_->units, state_->host_fields, true);
}

void PairMlipDD::prepare_arrays(int eflag, int vflag) { ev_init(eflag, vflag); }

std::string PairMlipDD::device() const { return state_->options.device; }

void PairMlipDD::require_set_up()
{
  if (!state_ || !state_->set_up || state_->stopped)
    error->all(MLIP_DD_PLACE,
               "mlip/dd: the models are not set up for this run (found: `run` with `pre no`, after "
               "an error or a new pair_style or pair_coeff). Leave out `pre no`");
}

void PairMlipDD::compute(int eflag, int vflag)
{
  require_set_up();
  prepare_arrays(eflag, vflag);
  const bool first = !state_->told;
  const bool tell = state_->options.log && first;
  const std::vector<mlip_dd::Traffic> before =
      tell ? mlip_dd::traffic_of(*state_->pipeline) : std::vector<mlip_dd::Traffic>();
  const bool new_rows = find_owners_anew();
  // Models that stop halfway are not used again.
  state_->stopped = true;
  mlip_dd::run_communicating(lmp, *state_->communicator, [&] {
    if (new_rows) rebuild_graphs();
    mlip_dd::PipelineRequest request;
    request.node_energy = eflag_atom;
    request.node_virial = vflag_atom;
    request.centroid_virial = cvflag_atom;
    outputs_->add_wanted(request, first);
    extracted_->add_wanted(*state_->communicator, request);
    if (state_->options.charges_to_q) request.output_fields.push_back("charges");
    state_->pipeline->evaluate(present_step(), request);
    ++state_->evaluations;
    require_finite();
    add_results();
    take_outputs();
  });
  state_->stopped = false;
  forward_outputs();
  if (first || (cvflag_atom && !state_->told_of_flux)) pass_warnings_on();
  state_->told_of_flux |= cvflag_atom != 0;
  state_->told = true;
  if (!tell) return;
  log_lines(describe_setting());
  log_lines(mlip_dd::describe_graphs(*state_->communicator, *state_->pipeline,
                                     neighbor->skin * state_->units.length, before));
}

void *PairMlipDD::extract(const char *name, int &dimension)
{
  dimension = 0;
  if (std::string(name) == "cutoff" && cutoff_ > 0.0) return &cutoff_;
  if (int *flag = outputs_->flag(name)) return flag;
  void *value = nullptr;
  mlip_dd::run_with_warning(lmp, [&] { value = extracted_->find(name); });
  return value;
}

void *PairMlipDD::extract_peratom(const char *name, int &columns)
{
  columns = 0;
  // fix pair alone asks, on all ranks; its own message would come later and name no cure.
  if (!outputs_->knows(name) && state_ && state_->pipeline) {
    std::string known;
    for (const std::string &output : outputs_->names()) known += " " + output;
    error->all(MLIP_DD_PLACE,
               "mlip/dd: the model has no per-atom output of this name (found: {}). Ask for one "
               "of:{}; outputs are named in /model/outputs of the spec file",
               name, known.empty() ? " none" : known);
  }
  double *values = nullptr;
  mlip_dd::run_together(lmp, [&] { values = outputs_->values(name, update->ntimestep); });
  return values;
}

double PairMlipDD::memory_usage()
{
  double bytes = Pair::memory_usage();
  if (!state_ || !state_->pipeline) return bytes;
  for (std::size_t step = 0; step < state_->pipeline->size(); ++step) {
    const mlip_dd::AtomGraph &graph = state_->pipeline->runner(step).graph();
    bytes += static_cast<double>(graph.candidates.bytes() +
                                 graph.receivers.capacity() * 2 * sizeof(std::int64_t) +
                                 graph.vectors.capacity() * sizeof(double));
  }
  return bytes;
}

}    // namespace LAMMPS_NS
