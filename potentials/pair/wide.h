// Marks a function whose loops the compiler makes for wide registers beside the portable ones,
// chosen at load.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define MLIP_DD_WIDE __attribute__((target_clones("avx512f", "avx2,fma", "default")))
#else
#define MLIP_DD_WIDE
#endif
