#include "potentials/ewald/structure_factors.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>

#include "base/constants.h"
#include "base/timer.h"
#include "potentials/coulomb/wave_strain.h"
#include "potentials/ewald/matrix_product.h"
#include "potentials/ewald/wave_terms.h"
#include "potentials/ewald/wave_vectors.h"
#include "potentials/pair/wide.h"

namespace mlip_dd {

namespace {

// Atoms are taken in blocks, so that the phases of one fit into the cache.
constexpr std::int64_t kBlock = 128;

// exp(2 pi i m f) for m in [first, last], each from the one before.
void powers(double fraction, int first, int last, std::complex<double> *result)
{
  const double angle = 2.0 * kPi * (fraction - std::floor(fraction));
  const std::complex<double> step(std::cos(angle), std::sin(angle));
  std::complex<double> value(1.0, 0.0);
  for (int m = 0; m <= std::max(-first, last); ++m) {
    if (m <= last) result[m - first] = value;
    if (-m >= first) result[-m - first] = std::conj(value);
    value = {value.real() * step.real() - value.imag() * step.imag(),
             value.real() * step.imag() + value.imag() * step.real()};
  }
}

// Each number re | im: the imaginary part `n` places after the real one.
void put(const std::complex<double> &value, double *to, std::size_t n)
{
  to[0] = value.real();
  to[n] = value.imag();
}

// to = x y, for n numbers re | im.
MLIP_DD_WIDE void multiply_phases(std::size_t n, const double *__restrict x,
                                  const double *__restrict y, double *__restrict to)
{
  for (std::size_t b = 0; b < n; ++b) {
    to[b] = x[b] * y[b] - x[n + b] * y[n + b];
    to[n + b] = x[b] * y[n + b] + x[n + b] * y[b];
  }
}

// With phases e and products p of n atoms, re | im, where p has its imaginary part negative:
// adds e p's real part to `values`, and h and k times its imaginary part to the slopes.
MLIP_DD_WIDE void add_products(std::size_t n, const double *__restrict e,
                               const double *__restrict p, double h, double k,
                               double *__restrict values, double *__restrict slope_h,
                               double *__restrict slope_k)
{
  for (std::size_t b = 0; b < n; ++b) {
    const double im = e[n + b] * p[b] - e[b] * p[n + b];
    values[b] += e[b] * p[b] + e[n + b] * p[n + b];
    slope_h[b] += h * im;
    slope_k[b] += k * im;
  }
}

MLIP_DD_WIDE void add_slopes(std::size_t n, const double *__restrict e, const double *__restrict p,
                             double *__restrict slope)
{
  for (std::size_t b = 0; b < n; ++b) slope[b] += e[n + b] * p[b] - e[b] * p[n + b];
}

class StructureFactors final : public ReciprocalSum {
 public:
  StructureFactors(const EwaldParameters &parameters, double accuracy, Communicator &communicator)
      : parameters_(parameters), accuracy_(accuracy), communicator_(communicator)
  {}

  void plan(const Lattice &lattice, const ChargeTotals &totals, double alpha) override
  {
    alpha_ = alpha;
    plan_ = plan_waves(parameters_, accuracy_, lattice, totals, alpha);
    weighed_.reset();
  }

  void add(const Lattice &lattice, const ChargeTensors &charges, double constant,
           const CoulombTensors &to) override
  {
    if (plan_.waves.count == 0) return;
    const OwnedCharges atoms = spans_of(charges);
    const CoulombSums sums = spans_of(to);
    resize();
    const std::int64_t blocks = (atoms.count() + kBlock - 1) / kBlock;
    std::fill(factors_.begin(), factors_.end(), 0.0);
    for (std::int64_t block = 0; block < blocks; ++block) {
      fill_phases(atoms, block);
      add_factors(atoms, block);
    }
    sum_factors();
    weigh_factors(lattice, constant, communicator_.rank() == 0 ? sums.virial : nullptr);
    for (std::int64_t block = 0; block < blocks; ++block) {
      if (blocks > 1) fill_phases(atoms, block);
      add_to_atoms(lattice, atoms, block, sums);
    }
  }

  double error(const Lattice &lattice, const ChargeTotals &totals) const override
  {
    return wave_vector_error(totals, lattice.volume, alpha_, plan_.k_cutoff);
  }

  Traffic traffic() const override { return traffic_; }

  std::vector<std::string> description() const override { return {describe(plan_)}; }

 private:
  std::int64_t n_columns() const { return static_cast<std::int64_t>(plan_.waves.columns.size()); }

  void resize()
  {
    const auto columns = static_cast<std::size_t>(n_columns());
    const auto width = static_cast<std::size_t>(plan_.waves.width());
    const auto block = static_cast<std::size_t>(kBlock);
    across_.resize(columns * 2 * block);
    along_.resize(2 * block * 2 * width);
    turned_.resize(2 * width * 2 * block);
    charged_.resize(2 * block * 2 * width);
    factors_.resize(columns * 2 * width);
    weights_.resize(columns * width);
    weighted_.resize(columns * 2 * width);
    scaled_.resize(columns * 2 * width);
    products_.resize(columns * 2 * block);
    packed_.resize(2 * static_cast<std::size_t>(plan_.waves.count));
  }

  static std::int64_t atoms_in(const OwnedCharges &atoms, std::int64_t block)
  {
    return std::min(kBlock, atoms.count() - block * kBlock);
  }
  // With up to three more, of charge zero, for matrix products.
  static std::int64_t places_in(const OwnedCharges &atoms, std::int64_t block)
  {
    return (atoms_in(atoms, block) + 3) / 4 * 4;
  }

  // across_ [columns, re | im of the block's atoms]: exp(i (h b0 + k b1) . r).
  // along_ [2 block, 2 width]: rows (re, im), (-im, re) of exp(i l b2 . r), so that a row of
  // across_ times along_ is a complex product; turned_ is its transpose.
  void fill_phases(const OwnedCharges &atoms, std::int64_t block)
  {
    constexpr double kNoAtom[3] = {};
    const auto n = static_cast<std::size_t>(places_in(atoms, block));
    const auto present = static_cast<std::size_t>(atoms_in(atoms, block));
    const auto [most_h, most_k, most_l] = plan_.waves.largest;
    const auto width = static_cast<std::size_t>(plan_.waves.width());
    phases_[0].resize(static_cast<std::size_t>(most_h + 1) * 2 * n);
    phases_[1].resize(static_cast<std::size_t>(2 * most_k + 1) * 2 * n);
    std::vector<std::complex<double>> &row = powers_;
    row.resize(std::max(
        {width, static_cast<std::size_t>(most_h + 1), static_cast<std::size_t>(2 * most_k + 1)}));
    for (std::size_t b = 0; b < n; ++b) {
      const double *fraction =
          b < present ? &atoms.fractional[3 * (static_cast<std::size_t>(block * kBlock) + b)]
                      : kNoAtom;
      powers(fraction[0], 0, most_h, row.data());
      for (std::size_t m = 0; m <= static_cast<std::size_t>(most_h); ++m)
        put(row[m], &phases_[0][m * 2 * n + b], n);
      powers(fraction[1], -most_k, most_k, row.data());
      for (std::size_t m = 0; m <= static_cast<std::size_t>(2 * most_k); ++m)
        put(row[m], &phases_[1][m * 2 * n + b], n);
      powers(fraction[2], -most_l, most_l, row.data());
      std::fill(row.begin() + 2 * most_l + 1, row.begin() + plan_.waves.width(), 0.0);
      double *first = &along_[b * 2 * width], *second = &along_[(n + b) * 2 * width];
      for (std::size_t l = 0; l < width; ++l) {
        first[l] = second[width + l] = row[l].real();
        first[width + l] = row[l].imag();
        second[l] = -row[l].imag();
        turned_[l * 2 * n + b] = turned_[(width + l) * 2 * n + n + b] = row[l].real();
        turned_[(width + l) * 2 * n + b] = row[l].imag();
        turned_[l * 2 * n + n + b] = -row[l].imag();
      }
    }
    for (std::size_t c = 0; c < plan_.waves.columns.size(); ++c) {
      const WaveColumn &column = plan_.waves.columns[c];
      const double *x = &phases_[0][static_cast<std::size_t>(column.h) * 2 * n];
      const double *y = &phases_[1][static_cast<std::size_t>(column.k + most_k) * 2 * n];
      multiply_phases(n, x, y, &across_[c * 2 * n]);
    }
  }

  // factors_ [columns, re | im by l]: sum over atoms of charge exp(i k . r).
  void add_factors(const OwnedCharges &atoms, std::int64_t block)
  {
    const auto n = static_cast<std::size_t>(places_in(atoms, block));
    const auto present = static_cast<std::size_t>(atoms_in(atoms, block));
    const auto row = static_cast<std::size_t>(2 * plan_.waves.width());
    for (std::size_t k = 0; k < 2 * n; ++k) {
      const std::size_t b = k % n;
      const double charge =
          b < present ? atoms.charges[static_cast<std::size_t>(block * kBlock) + b] : 0.0;
      for (std::size_t l = 0; l < row; ++l) charged_[k * row + l] = charge * along_[k * row + l];
    }
    multiply_matrices(n_columns(), 2 * plan_.waves.width(), 2 * places_in(atoms, block),
                      across_.data(), charged_.data(), factors_.data(), /*add=*/true);
  }

  // For each wave vector of the plan: index into factors_ of its real part.
  template <class Body>
  void for_each_wave(Body body) const
  {
    const auto width = static_cast<std::size_t>(plan_.waves.width());
    for (std::size_t c = 0; c < plan_.waves.columns.size(); ++c) {
      const WaveColumn &column = plan_.waves.columns[c];
      for (int l = column.first; l <= column.last; ++l)
        body(column, l, c, static_cast<std::size_t>(l + plan_.waves.largest[2]), width);
    }
  }

  // Collective.
  void sum_factors()
  {
    if (communicator_.size() == 1) return;
    const Timer timer(traffic_.seconds);
    std::size_t m = 0;
    for_each_wave([&](const WaveColumn &, int, std::size_t c, std::size_t l, std::size_t width) {
      packed_[m++] = factors_[c * 2 * width + l];
      packed_[m++] = factors_[c * 2 * width + width + l];
    });
    communicator_.sum(packed_);
    m = 0;
    for_each_wave([&](const WaveColumn &, int, std::size_t c, std::size_t l, std::size_t width) {
      factors_[c * 2 * width + l] = packed_[m++];
      factors_[c * 2 * width + width + l] = packed_[m++];
    });
    ++traffic_.messages_sent;
    traffic_.bytes_sent += static_cast<std::int64_t>(packed_.size() * sizeof(double));
  }

  // weights_ of the waves, zero for l outside a column's range.
  void weigh(const Lattice &lattice, double constant)
  {
    if (weighed_ && weighed_->vectors == lattice.vectors && constant == weighed_constant_) return;
    std::fill(weights_.begin(), weights_.end(), 0.0);
    for_each_wave(
        [&](const WaveColumn &column, int l, std::size_t c, std::size_t place, std::size_t width) {
          const Vector3 k = wave_vector(lattice, column.h, column.k, l);
          const double k_squared = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
          weights_[c * width + place] = constant * wave_weight(k_squared, lattice.volume, alpha_);
        });
    weighed_ = lattice;
    weighed_constant_ = constant;
  }

  // weighted_ = weights_ times factors_.
  void weigh_factors(const Lattice &lattice, double constant, double *virial)
  {
    weigh(lattice, constant);
    const auto row = static_cast<std::size_t>(plan_.waves.width());
    for (std::size_t half = 0; half < weighted_.size(); half += row)
      for (std::size_t l = 0; l < row; ++l)
        weighted_[half + l] = weights_[half / (2 * row) * row + l] * factors_[half + l];
    if (!virial) return;
    const double decay = 0.25 / (alpha_ * alpha_);
    for_each_wave(
        [&](const WaveColumn &column, int l, std::size_t c, std::size_t place, std::size_t width) {
          const Vector3 k = wave_vector(lattice, column.h, column.k, l);
          const double k_squared = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
          const double weight = weights_[c * width + place];
          const double re = factors_[c * 2 * width + place];
          const double im = factors_[c * 2 * width + width + place];
          const double energy = 0.5 * weight * (re * re + im * im);
          for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
              virial[3 * a + b] += energy * strain_factor(k.data(), k_squared, decay, a, b);
        });
  }

  // products_ [columns, 2 n]: sum over l of `from` (re | im of S) with the phases along l; real
  // part and minus imaginary part of conj(S) exp(i l b2 . r).
  void multiply(std::vector<double> &from, std::int64_t n)
  {
    multiply_matrices(n_columns(), 2 * n, 2 * plan_.waves.width(), from.data(), turned_.data(),
                      products_.data(), /*add=*/false);
  }

  void add_to_atoms(const Lattice &lattice, const OwnedCharges &atoms, std::int64_t block,
                    const CoulombSums &sums)
  {
    const std::int64_t n = places_in(atoms, block);
    const auto count = static_cast<std::size_t>(n);
    const auto present = static_cast<std::size_t>(atoms_in(atoms, block));
    const auto start = static_cast<std::size_t>(block * kBlock);
    const auto width = static_cast<std::size_t>(plan_.waves.width());
    // Potential, and minus its gradient along h, k, l.
    for (auto &values : at_atoms_) values.assign(count, 0.0);

    multiply(weighted_, n);
    for (std::size_t c = 0; c < plan_.waves.columns.size(); ++c) {
      const double h = plan_.waves.columns[c].h, k = plan_.waves.columns[c].k;
      add_products(count, &across_[c * 2 * count], &products_[c * 2 * count], h, k,
                   at_atoms_[0].data(), at_atoms_[1].data(), at_atoms_[2].data());
    }
    for (std::size_t m = 0; m < weighted_.size(); ++m)
      scaled_[m] = weighted_[m] * (static_cast<double>(m % width) - plan_.waves.largest[2]);
    multiply(scaled_, n);
    for (std::size_t c = 0; c < plan_.waves.columns.size(); ++c) {
      add_slopes(count, &across_[c * 2 * count], &products_[c * 2 * count], at_atoms_[3].data());
    }
    for (std::size_t b = 0; b < present; ++b) {
      const double charge = atoms.charges[start + b];
      sums.potential[start + b] += at_atoms_[0][b];
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t axis = 0; axis < 3; ++axis)
          sums.forces[3 * (start + b) + a] +=
              charge * lattice.reciprocal[axis][a] * at_atoms_[1 + axis][b];
    }
    if (!sums.node_virial.empty()) add_node_virial(lattice, atoms, block, sums);
  }

  void add_node_virial(const Lattice &lattice, const OwnedCharges &atoms, std::int64_t block,
                       const CoulombSums &sums)
  {
    const std::int64_t n = places_in(atoms, block);
    const auto count = static_cast<std::size_t>(n);
    const auto present = static_cast<std::size_t>(atoms_in(atoms, block));
    const auto start = static_cast<std::size_t>(block * kBlock);
    const double decay = 0.25 / (alpha_ * alpha_);
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = a; b < 3; ++b) {
        std::fill(scaled_.begin(), scaled_.end(), 0.0);
        for_each_wave([&](const WaveColumn &column, int l, std::size_t c, std::size_t place,
                          std::size_t width) {
          const Vector3 k = wave_vector(lattice, column.h, column.k, l);
          const double k_squared = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
          const double factor =
              strain_factor(k.data(), k_squared, decay, static_cast<int>(a), static_cast<int>(b));
          for (const std::size_t m : {c * 2 * width + place, c * 2 * width + width + place})
            scaled_[m] = factor * weighted_[m];
        });
        multiply(scaled_, n);
        std::vector<double> &total = at_atoms_[0];
        total.assign(count, 0.0);
        for (std::size_t c = 0; c < plan_.waves.columns.size(); ++c) {
          const double *er = &across_[c * 2 * count], *ei = er + count;
          const double *pr = &products_[c * 2 * count], *pi = pr + count;
          for (std::size_t i = 0; i < count; ++i) total[i] += er[i] * pr[i] + ei[i] * pi[i];
        }
        for (std::size_t i = 0; i < present; ++i) {
          const double value = 0.5 * atoms.charges[start + i] * total[i];
          sums.node_virial[9 * (start + i) + 3 * a + b] += value;
          if (a != b) sums.node_virial[9 * (start + i) + 3 * b + a] += value;
        }
      }
  }

  EwaldParameters parameters_;
  double accuracy_;
  Communicator &communicator_;
  double alpha_ = 0.0;
  WavePlan plan_;
  std::optional<Lattice> weighed_;    // what weights_ are for
  double weighed_constant_ = 0.0;
  Traffic traffic_;
  // Work space, kept between evaluations.
  std::vector<std::complex<double>> powers_;
  std::array<std::vector<double>, 2> phases_;    // [powers, re | im of the block's atoms]
  std::array<std::vector<double>, 4> at_atoms_;
  std::vector<double> across_, along_, turned_, charged_, factors_, weights_, weighted_, scaled_,
      products_, packed_;
};

}    // namespace

std::unique_ptr<ReciprocalSum> make_structure_factors(const EwaldParameters &parameters,
                                                      double accuracy, Communicator &communicator)
{
  return std::make_unique<StructureFactors>(parameters, accuracy, communicator);
}

}    // namespace mlip_dd
