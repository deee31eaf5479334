// What torch throws while a model runs, as an Error that names the model and a cure.
#pragma once

#include <exception>
#include <string>

#include "base/error.h"

namespace mlip_dd {

// `message` is torch's, of running the model in `file`.
Error model_error(const std::string &message, const std::string &file);

// Runs `body`. Errors of ours pass through.
template <class Body>
auto of_model(const std::string &file, Body body)
{
  try {
    return body();
  } catch (const Error &) {
    throw;
  } catch (const std::exception &error) {
    throw model_error(error.what(), file);
  }
}

}    // namespace mlip_dd
