// The words of the wire format for each enumeration, in one table per type; used by reader, writer,
// error messages and command line alike.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/mlip_spec.h"
#include "spec/pipeline_spec.h"

namespace mlip_dd {

template <class Enum>
using NameTable = std::span<const std::pair<std::string_view, Enum>>;

// Every legal word of a type with its value, in the order in which messages list them.
template <class Enum>
NameTable<Enum> names_of();
template <>
NameTable<ScatterMode> names_of<ScatterMode>();
template <>
NameTable<GatherMode> names_of<GatherMode>();
template <>
NameTable<PolicyKind> names_of<PolicyKind>();
template <>
NameTable<ArgTransform> names_of<ArgTransform>();
template <>
NameTable<OutputTransformKind> names_of<OutputTransformKind>();
template <>
NameTable<OutputKind> names_of<OutputKind>();
template <>
NameTable<Reduce> names_of<Reduce>();
template <>
NameTable<ForceStrategy> names_of<ForceStrategy>();
template <>
NameTable<Neutralize> names_of<Neutralize>();

template <class Enum>
std::optional<Enum> from_name(std::string_view name)
{
  for (const auto &[word, value] : names_of<Enum>())
    if (word == name) return value;
  return std::nullopt;
}

template <class Enum>
std::string_view to_name(Enum value)
{
  for (const auto &[word, candidate] : names_of<Enum>())
    if (candidate == value) return word;
  return {};
}

// "a, b or c".
std::string list_names(std::span<const std::string_view> names);

template <class Enum>
std::vector<std::string_view> words_of()
{
  std::vector<std::string_view> words;
  for (const auto &[word, value] : names_of<Enum>()) words.push_back(word);
  return words;
}

}    // namespace mlip_dd
