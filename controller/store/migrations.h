// The store's schema as numbered steps, embedded from migrations/*.sql at build.
#pragma once

#include <span>

namespace railwright {

struct Migration {
  int version;       ///< PRAGMA user_version after it
  const char* name;  ///< "0001_init"
  const char* sql;
};

/// Ascending and without a gap, from 1.
std::span<const Migration> Migrations();

}  // namespace railwright
