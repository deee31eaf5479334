// The C interface between LAMMPS and a plugin, as its manual describes it ("Developer information:
// Writing plugins"). LAMMPS does not always install the header that declares it.
#pragma once

extern "C" {

typedef void *(lammpsplugin_factory1)(void *);
typedef void *(lammpsplugin_factory2)(void *, int, char **);

typedef struct {
  const char *version;
  const char *style;
  const char *name;
  const char *info;
  const char *author;
  union {
    lammpsplugin_factory1 *v1;
    lammpsplugin_factory2 *v2;
  } creator;
  void *handle;
} lammpsplugin_t;

typedef void (*lammpsplugin_regfunc)(lammpsplugin_t *, void *);

// Called by `plugin load`.
__attribute__((visibility("default"))) void lammpsplugin_init(void *lammps, void *handle,
                                                              void *register_function);
}
