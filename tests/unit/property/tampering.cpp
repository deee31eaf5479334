#include "property/tampering.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace mlip_dd::test {

namespace {

// Passes everything on.
class Passing : public Communicator {
 public:
  explicit Passing(Communicator &below) : below_(below) {}

  int rank() const override { return below_.rank(); }
  int size() const override { return below_.size(); }
  void exchange(std::span<const Message> sends, std::span<const Message> receives) override
  {
    below_.exchange(sends, receives);
  }
  std::vector<Parcel> deliver(std::span<const Parcel> parcels) override
  {
    return below_.deliver(parcels);
  }
  void sum(std::span<double> values) override { below_.sum(values); }
  void sum(std::span<std::int64_t> values) override { below_.sum(values); }
  void max(std::span<std::int64_t> values) override { below_.max(values); }
  void broadcast(void *data, std::size_t bytes, int root) override
  {
    below_.broadcast(data, bytes, root);
  }

 protected:
  Communicator &below_;
};

// Changes what chosen exchanges have brought.
class Changing : public Passing {
 public:
  using Change = std::function<void(const Message &)>;
  Changing(Communicator &below, Chosen chosen, Change change)
      : Passing(below), chosen_(std::move(chosen)), change_(std::move(change))
  {}
  void exchange(std::span<const Message> sends, std::span<const Message> receives) override
  {
    below_.exchange(sends, receives);
    if (chosen_(count_++)) std::for_each(receives.begin(), receives.end(), change_);
  }

 private:
  Chosen chosen_;
  Change change_;
  std::int64_t count_ = 0;
};

class Counting : public Passing {
 public:
  Counting(Communicator &below, std::int64_t &most) : Passing(below), most_(most) {}
  void exchange(std::span<const Message> sends, std::span<const Message> receives) override
  {
    below_.exchange(sends, receives);
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    most_ = std::max(most_, ++count_);
  }

 private:
  std::int64_t &most_;
  std::int64_t count_ = 0;
};

class MultiplyingSums : public Passing {
 public:
  using Passing::Passing;
  void sum(std::span<double> values) override
  {
    below_.sum(values);
    for (double &value : values) value *= size();
  }
};

class SkippingSums : public Passing {
 public:
  SkippingSums(Communicator &below, bool idle) : Passing(below), idle_(idle) {}
  void sum(std::span<double> values) override
  {
    if (!idle_) below_.sum(values);
  }

 private:
  bool idle_;
};

}    // namespace

std::unique_ptr<Communicator> counting(Communicator &communicator, std::int64_t &most)
{
  return std::make_unique<Counting>(communicator, most);
}

std::unique_ptr<Communicator> losing(Communicator &communicator, Chosen chosen)
{
  return std::make_unique<Changing>(communicator, std::move(chosen), [](const Message &message) {
    std::memset(message.data, 0, message.bytes);
  });
}

std::unique_ptr<Communicator> cutting(Communicator &communicator, Chosen chosen,
                                      std::size_t row_bytes)
{
  return std::make_unique<Changing>(
      communicator, std::move(chosen), [row_bytes](const Message &message) {
        const std::size_t lost = std::min(row_bytes, message.bytes);
        std::memset(static_cast<char *>(message.data) + message.bytes - lost, 0, lost);
      });
}

std::unique_ptr<Communicator> multiplying_sums(Communicator &communicator)
{
  return std::make_unique<MultiplyingSums>(communicator);
}

std::unique_ptr<Communicator> multiplying(Communicator &communicator, Chosen chosen)
{
  const double factor = communicator.size();
  return std::make_unique<Changing>(
      communicator, std::move(chosen), [factor](const Message &message) {
        auto *values = static_cast<double *>(message.data);
        for (std::size_t k = 0; k < message.bytes / sizeof(double); ++k) values[k] *= factor;
      });
}

std::unique_ptr<Communicator> skipping_sums(Communicator &communicator, bool idle)
{
  return std::make_unique<SkippingSums>(communicator, idle);
}

}    // namespace mlip_dd::test
