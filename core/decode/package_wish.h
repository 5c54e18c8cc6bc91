// What a profile asks of a Debian package: a version, a range of versions, a hold, or that it is not there.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "railwright/result.h"

namespace railwright {

struct PackageWish {
  bool absent = false;
  bool hold = false;
  /// (operator, version): "=" ">=" "<=" ">" "<" as deb-version(7) orders them, or "~" for `1.2.*`, the
  /// version then being what the version must begin with, "1.2.". All must hold; none: any version will do.
  std::vector<std::pair<std::string, std::string>> conditions;

  /// `installed`, `absent`, `=1.2-3` (or `1.2-3`), `>=1.2 <2`, `1.2.*`, each with `hold` if upgrades must be
  /// refused; blanks or commas between the words.
  static Result<PackageWish> Parse(std::string_view text);
  std::string Text() const;
  /// `version` is "" for a package that is not installed.
  bool FulfilledBy(std::string_view version, bool held) const;
};

/// Debian Policy 5.6.1: at least two of a-z 0-9 + - . and beginning with a letter or digit; ":amd64" may
/// follow.
bool IsDebianPackageName(std::string_view name);

}  // namespace railwright
