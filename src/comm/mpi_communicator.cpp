#include "comm/mpi_communicator.h"

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

#include "base/error.h"

namespace mlip_dd {

namespace {

using Clock = std::chrono::steady_clock;
// How often a wait looks whether a rank gave up, and how long it goes on after that for messages
// that are on their way: their memory is not ours while they are.
constexpr int kTriesBetweenLooks = 256;
constexpr auto kGrace = std::chrono::milliseconds(200);

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

class MpiCommunicator final : public InterruptibleCommunicator {
 public:
  explicit MpiCommunicator(MPI_Comm world) : world_(world)
  {
    check(MPI_Comm_dup(world_, &comm_), "MPI_Comm_dup");
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
    const std::size_t started = requests_.size();
    for (const Message &message : sends) start(message, true);
    wait(requests_, started);
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
    const auto receive = [&] { receive_parcel(tag, received); };
    wait(sends, 0, receive);
    std::vector<MPI_Request> barrier(1);
    check(MPI_Ibarrier(comm_, &barrier[0]), "MPI_Ibarrier");
    wait(barrier, 0, receive);
    std::stable_sort(received.begin(), received.end(),
                     [](const Parcel &a, const Parcel &b) { return a.rank < b.rank; });
    return received;
  }

  void sum(std::span<double> values) override { reduce(values, MPI_DOUBLE, MPI_SUM); }
  void sum(std::span<std::int64_t> values) override { reduce(values, MPI_INT64_T, MPI_SUM); }
  void max(std::span<std::int64_t> values) override { reduce(values, MPI_INT64_T, MPI_MAX); }

  void give_up() override
  {
    for (int rank = 0; rank < size_; ++rank) {
      if (rank == rank_) continue;
      MPI_Request request;
      check(MPI_Isend(nullptr, 0, MPI_BYTE, rank, kGaveUpTag, comm_, &request), "MPI_Isend");
      check(MPI_Request_free(&request), "MPI_Request_free");
    }
  }

  bool interrupted() const override { return interrupted_; }

  // The old communicator is left with what nobody will receive: MPI may not be asked to free it.
  void start_afresh() override
  {
    check(MPI_Comm_dup(world_, &comm_), "MPI_Comm_dup");
    interrupted_ = false;
    deliveries_ = 0;
  }

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
  static constexpr int kParcelTag = 12;    // and 13
  static constexpr int kGaveUpTag = 14;

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
    // A sum that is left may still write.
    auto held = std::make_shared<std::vector<T>>(values.begin(), values.end());
    requests_.assign(1, MPI_REQUEST_NULL);
    check(MPI_Iallreduce(MPI_IN_PLACE, held->data(), count(held->size()), type, op, comm_,
                         &requests_[0]),
          "MPI_Iallreduce");
    left_.push_back(held);
    wait(requests_, 0);
    left_.pop_back();
    std::copy(held->begin(), held->end(), values.begin());
  }

  void receive_parcel(int tag, std::vector<Parcel> &received)
  {
    int arrived = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &arrived, &status), "MPI_Iprobe");
    if (!arrived) return;
    int length = 0;
    MPI_Get_count(&status, MPI_INT64_T, &length);
    Parcel parcel{status.MPI_SOURCE, std::vector<std::int64_t>(static_cast<std::size_t>(length))};
    check(MPI_Recv(parcel.values.data(), length, MPI_INT64_T, status.MPI_SOURCE, tag, comm_,
                   MPI_STATUS_IGNORE),
          "MPI_Recv");
    received.push_back(std::move(parcel));
  }

  // Until all requests, of which the first are `receives`, are done; `meanwhile` after each try.
  template <class Meanwhile>
  void wait(std::vector<MPI_Request> &requests, std::size_t receives, Meanwhile meanwhile)
  {
    Clock::time_point noticed{};
    for (int tries = 1;; ++tries) {
      int done = 0;
      check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done,
                        MPI_STATUSES_IGNORE),
            "MPI_Testall");
      if (done) return;
      meanwhile();
      if (tries % kTriesBetweenLooks) continue;
      std::this_thread::yield();
      if (!interrupted_) {
        int gave_up = 0;
        check(MPI_Iprobe(MPI_ANY_SOURCE, kGaveUpTag, comm_, &gave_up, MPI_STATUS_IGNORE),
              "MPI_Iprobe");
        if (!gave_up) continue;
        interrupted_ = true;
      }
      if (noticed == Clock::time_point{}) noticed = Clock::now();
      if (Clock::now() - noticed < kGrace) continue;
      // Their memory is about to go; what was sent stays unread.
      for (std::size_t k = 0; k < receives; ++k)
        if (requests[k] != MPI_REQUEST_NULL) {
          MPI_Cancel(&requests[k]);
          MPI_Request_free(&requests[k]);
        }
      throw Error({"another rank failed", "", "rank " + std::to_string(rank_), ""});
    }
  }
  void wait(std::vector<MPI_Request> &requests, std::size_t receives)
  {
    wait(requests, receives, [] {});
  }

  MPI_Comm world_ = MPI_COMM_NULL;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int deliveries_ = 0;
  bool interrupted_ = false;
  std::vector<MPI_Request> requests_;
  std::vector<std::shared_ptr<void>> left_;    // what unfinished sums write to
};

}    // namespace

std::unique_ptr<InterruptibleCommunicator> make_mpi_communicator(MPI_Comm world)
{
  return std::make_unique<MpiCommunicator>(world);
}

}    // namespace mlip_dd
