#include "comm/mpi_communicator.h"

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/error.h"

namespace mlip_dd {

namespace {

// Messages longer than this are cut, since MPI counts are ints.
constexpr std::size_t kLongestPiece = std::size_t{1} << 30;

void check(int code, const char *call)
{
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(
      {"an MPI call failed", std::string(text, static_cast<std::size_t>(length)), call, ""});
}

// Variables by which a user tells an MPI library to take GPU memory, or not.
std::string gpu_variables()
{
  std::string found;
  for (const char *name :
       {"MPICH_GPU_SUPPORT_ENABLED", "MPIR_CVAR_ENABLE_GPU", "OMPI_MCA_opal_cuda_support",
        "OMPI_MCA_accelerator", "I_MPI_OFFLOAD", "MV2_USE_CUDA", "UCX_TLS"})
    if (const char *value = std::getenv(name))
      found += std::string(found.empty() ? "" : ", ") + name + "=" + value;
  return found.empty() ? "" : " (" + found + ")";
}

class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(MPI_Comm world)
  {
    check(MPI_Comm_dup(world, &comm_), "MPI_Comm_dup");
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }

  ~MpiCommunicator() override
  {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized) MPI_Comm_free(&comm_);
  }

  MpiCommunicator(const MpiCommunicator &) = delete;
  MpiCommunicator &operator=(const MpiCommunicator &) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void exchange(std::span<const Message> sends, std::span<const Message> receives) override
  {
    requests_.clear();
    for (const Message &message : receives) start(message, false);
    for (const Message &message : sends) start(message, true);
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
  }

  GpuMessages gpu_messages() const override
  {
    [[maybe_unused]] const auto says = [](bool supported) {
      return GpuMessages{supported ? GpuSupport::yes : GpuSupport::no,
                         std::string("MPI says that it ") +
                             (supported ? "takes" : "does not take") + " GPU memory" +
                             gpu_variables()};
    };
#if defined(MPIX_GPU_SUPPORT_CUDA)
    int supported = 0;
    check(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported), "MPIX_GPU_query_support");
    return says(supported != 0);
#elif defined(MPIX_CUDA_AWARE_SUPPORT)
    return says(MPIX_Query_cuda_support() == 1);
#else
    return {GpuSupport::unknown, "MPI does not say whether it takes GPU memory" + gpu_variables()};
#endif
  }

  // Non-blocking consensus (Hoefler, Siebert, Lumsdaine, PPoPP 2010): cost grows with the number of
  // partners, not with the number of ranks. Tags alternate because a rank may start its next call
  // while another has not yet noticed that this one ended.
  std::vector<Parcel> deliver(std::span<const Parcel> parcels) override
  {
    const int tag = kParcelTag + (deliveries_++ % 2);
    std::vector<MPI_Request> sends(parcels.size());
    for (std::size_t i = 0; i < parcels.size(); ++i)
      check(MPI_Issend(parcels[i].values.data(), count(parcels[i].values.size()), MPI_INT64_T,
                       parcels[i].rank, tag, comm_, &sends[i]),
            "MPI_Issend");
    std::vector<Parcel> received;
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool in_barrier = false;
    for (int done = 0; !done;) {
      int arrived = 0;
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &arrived, &status), "MPI_Iprobe");
      if (arrived) {
        int length = 0;
        MPI_Get_count(&status, MPI_INT64_T, &length);
        Parcel parcel{status.MPI_SOURCE,
                      std::vector<std::int64_t>(static_cast<std::size_t>(length))};
        check(MPI_Recv(parcel.values.data(), length, MPI_INT64_T, status.MPI_SOURCE, tag, comm_,
                       MPI_STATUS_IGNORE),
              "MPI_Recv");
        received.push_back(std::move(parcel));
      }
      if (in_barrier) {
        check(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
      } else {
        int sent = 0;
        check(MPI_Testall(static_cast<int>(sends.size()), sends.data(), &sent, MPI_STATUSES_IGNORE),
              "MPI_Testall");
        if (sent) {
          check(MPI_Ibarrier(comm_, &barrier), "MPI_Ibarrier");
          in_barrier = true;
        }
      }
    }
    std::stable_sort(received.begin(), received.end(),
                     [](const Parcel &a, const Parcel &b) { return a.rank < b.rank; });
    return received;
  }

  void sum(std::span<double> values) override { reduce(values, MPI_DOUBLE, MPI_SUM); }
  void sum(std::span<std::int64_t> values) override { reduce(values, MPI_INT64_T, MPI_SUM); }
  void max(std::span<std::int64_t> values) override { reduce(values, MPI_INT64_T, MPI_MAX); }

  void broadcast(void *data, std::size_t bytes, int root) override
  {
    auto *position = static_cast<char *>(data);
    while (bytes > 0) {
      const std::size_t piece = std::min(bytes, kLongestPiece);
      check(MPI_Bcast(position, static_cast<int>(piece), MPI_BYTE, root, comm_), "MPI_Bcast");
      position += piece;
      bytes -= piece;
    }
  }

 private:
  static constexpr int kExchangeTag = 11;
  static constexpr int kParcelTag = 12;

  static int count(std::size_t length)
  {
    if (length > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw Error(
          {"a parcel is longer than an MPI message can be", std::to_string(length), "", ""});
    return static_cast<int>(length);
  }

  void start(const Message &message, bool send)
  {
    auto *data = static_cast<char *>(message.data);
    std::size_t left = message.bytes;
    do {
      const std::size_t piece = std::min(left, kLongestPiece);
      MPI_Request request;
      if (send)
        check(MPI_Isend(data, static_cast<int>(piece), MPI_BYTE, message.rank, kExchangeTag, comm_,
                        &request),
              "MPI_Isend");
      else
        check(MPI_Irecv(data, static_cast<int>(piece), MPI_BYTE, message.rank, kExchangeTag, comm_,
                        &request),
              "MPI_Irecv");
      requests_.push_back(request);
      data += piece;
      left -= piece;
    } while (left > 0);
  }

  template <class T>
  void reduce(std::span<T> values, MPI_Datatype type, MPI_Op op)
  {
    check(MPI_Allreduce(MPI_IN_PLACE, values.data(), count(values.size()), type, op, comm_),
          "MPI_Allreduce");
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int deliveries_ = 0;
  std::vector<MPI_Request> requests_;
};

}    // namespace

std::unique_ptr<Communicator> make_mpi_communicator(MPI_Comm world)
{
  return std::make_unique<MpiCommunicator>(world);
}

}    // namespace mlip_dd
