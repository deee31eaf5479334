// Four doubles at a time, in the compiler's vector extension, which turns into the instructions of
// each processor that a function is compiled for. Used inside kernels only.
#pragma once

#include <cstdint>

#include "potentials/pair/number.h"
#include "potentials/pair/packed4.h"

// A function that is compiled twice, once for processors of the last decade, and chosen between
// when the program is loaded. Where the compiler can't, it is compiled once.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    __GNUC__ >= 12
#define MLIP_DD_KERNEL __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define MLIP_DD_KERNEL
#endif
// Vectors must not be passed between functions compiled for different processors.
#define MLIP_DD_INLINE inline __attribute__((always_inline))

namespace mlip_dd {

typedef double Double4 __attribute__((vector_size(32)));
typedef std::int64_t Mask4 __attribute__((vector_size(32)));    // all bits of a lane, or none

MLIP_DD_INLINE Double4 all4(double value) { return Double4{value, value, value, value}; }

MLIP_DD_INLINE Double4 load4(const Packed4 &packed)
{
  Double4 result;
  __builtin_memcpy(&result, &packed, sizeof result);
  return result;
}

MLIP_DD_INLINE void store4(Packed4 &packed, const Double4 &value)
{
  __builtin_memcpy(&packed, &value, sizeof value);
}

// `value` where the mask holds, else zero; a value that is not a number is dropped there too.
MLIP_DD_INLINE Double4 where4(const Mask4 &mask, const Double4 &value)
{
  return reinterpret_cast<Double4>(reinterpret_cast<Mask4>(value) & mask);
}

MLIP_DD_INLINE Double4 sqrt4(const Double4 &v)
{
  return Double4{__builtin_sqrt(v[0]), __builtin_sqrt(v[1]), __builtin_sqrt(v[2]),
                 __builtin_sqrt(v[3])};
}

// Columns of the matrix whose rows are given.
struct Columns4 {
  Double4 c0, c1, c2, c3;
};
MLIP_DD_INLINE Columns4 transpose4(const Double4 &r0, const Double4 &r1, const Double4 &r2,
                                   const Double4 &r3)
{
  const Double4 even01 = __builtin_shufflevector(r0, r1, 0, 4, 2, 6);
  const Double4 odd01 = __builtin_shufflevector(r0, r1, 1, 5, 3, 7);
  const Double4 even23 = __builtin_shufflevector(r2, r3, 0, 4, 2, 6);
  const Double4 odd23 = __builtin_shufflevector(r2, r3, 1, 5, 3, 7);
  return {__builtin_shufflevector(even01, even23, 0, 1, 4, 5),
          __builtin_shufflevector(odd01, odd23, 0, 1, 4, 5),
          __builtin_shufflevector(even01, even23, 2, 3, 6, 7),
          __builtin_shufflevector(odd01, odd23, 2, 3, 6, 7)};
}

// The sums of the lanes of four vectors.
MLIP_DD_INLINE Double4 sums4(const Double4 &a, const Double4 &b, const Double4 &c, const Double4 &d)
{
  const Columns4 columns = transpose4(a, b, c, d);
  return (columns.c0 + columns.c1) + (columns.c2 + columns.c3);
}

MLIP_DD_INLINE double sum4(const Double4 &a) { return (a[0] + a[1]) + (a[2] + a[3]); }

// exp of each lane, to about 2e-16 of it, for arguments in [-700, 700]; beyond, that of the limit.
// Reduction by powers of two and a Taylor polynomial, whose remainder at ln(2)/2 is 4e-18.
MLIP_DD_INLINE Double4 exp4(const Double4 &argument)
{
  constexpr double kLimit = 700.0;
  constexpr double kLog2E = 1.4426950408889634;
  // ln 2 in two parts: multiples of the first up to 2^11 are exact.
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  constexpr double kRounder = 6755399441055744.0;    // 1.5 * 2^52: adding it rounds to an integer
  Double4 x = argument < all4(-kLimit) ? all4(-kLimit) : argument;
  x = x > all4(kLimit) ? all4(kLimit) : x;
  const Double4 shifted = x * kLog2E + kRounder;
  const Double4 n = shifted - kRounder;
  const Double4 f = (x - n * kLn2High) - n * kLn2Low;
  Double4 p = all4(1.0 / 6227020800.0);
  constexpr double kInverseFactorials[] = {1.0 / 479001600.0,
                                           1.0 / 39916800.0,
                                           1.0 / 3628800.0,
                                           1.0 / 362880.0,
                                           1.0 / 40320.0,
                                           1.0 / 5040.0,
                                           1.0 / 720.0,
                                           1.0 / 120.0,
                                           1.0 / 24.0,
                                           1.0 / 6.0,
                                           0.5,
                                           1.0,
                                           1.0};
  for (const double coefficient : kInverseFactorials) p = p * f + coefficient;
  // The integer sits in the low bits of `shifted`; it goes to the exponent's place.
  const Mask4 exponent = (reinterpret_cast<Mask4>(shifted) + 1023) << 52;
  return p * reinterpret_cast<Double4>(exponent);
}

// x^(-1/3) of each lane, to about 4e-16 of it, for positive numbers.
MLIP_DD_INLINE Double4 inverse_cube_root4(const Double4 &x)
{
  // -1/3 of the exponent, and of the mantissa as if the logarithm were straight between powers of
  // two, is right to 4 %: done on the upper half of the bits, as a number.
  constexpr double kTwo52 = 4503599627370496.0;
  const Mask4 as_number =
      (reinterpret_cast<Mask4>(x) >> 32) | reinterpret_cast<Mask4>(all4(kTwo52));
  const Double4 upper = reinterpret_cast<Double4>(as_number) - kTwo52;
  constexpr double kOffset =
      0x553EF0FF;    // 4/3 of the upper bits of 1, less what centres the error
  const Double4 guess = (kOffset - upper * (1.0 / 3.0)) + kTwo52;
  Double4 y = reinterpret_cast<Double4>(reinterpret_cast<Mask4>(guess) << 32);
  // Each step leaves 14/81 of the cube of how far x y^3 is from 1.
  for (int step = 0; step < 3; ++step) {
    const Double4 off = 1.0 - x * y * y * y;
    y += y * off * (1.0 / 3.0 + 2.0 / 9.0 * off);
  }
  return y;
}

template <>
struct NumberOf<Double4> {
  static MLIP_DD_INLINE Double4 all(double value) { return all4(value); }
  static MLIP_DD_INLINE Double4 where(const Mask4 &mask, const Double4 &value)
  {
    return where4(mask, value);
  }
  static MLIP_DD_INLINE Double4 root(const Double4 &value) { return sqrt4(value); }
  static MLIP_DD_INLINE Double4 exponential(const Double4 &value) { return exp4(value); }
};

}    // namespace mlip_dd
