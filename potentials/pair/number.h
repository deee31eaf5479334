// What the terms of pair potentials need of a number, so that one text serves one pair (double, on
// a GPU) and four at a time (Double4, in vector4.h).
#pragma once

#include <cmath>

// Functions of the terms: on the CPU inlined always, since vectors must not be passed between
// functions that are compiled for different processors.
#ifdef __CUDACC__
#define MLIP_DD_TERM __host__ __device__ inline
#else
#define MLIP_DD_TERM inline __attribute__((always_inline))
#endif

namespace mlip_dd {

// all: the number in every lane; where: `value` where the mask holds, else zero, also where the
// value is not a number.
template <class Number>
struct NumberOf;

template <>
struct NumberOf<double> {
  static MLIP_DD_TERM double all(double value) { return value; }
  static MLIP_DD_TERM double where(bool mask, double value) { return mask ? value : 0.0; }
  static MLIP_DD_TERM double root(double value) { return std::sqrt(value); }
  static MLIP_DD_TERM double exponential(double value) { return std::exp(value); }
};

}    // namespace mlip_dd
