// What `mstconfig -d <bdf> -e q` prints: the parameters that a ConnectX card keeps in its flash.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright {

/// One parameter. Texts are as printed: "True(1)", "5", "ETH", "Array[0..7]"; "" for a column that the
/// listing lacks.
struct NvParameter {
  std::string default_value;
  std::string current;  ///< what the running firmware uses
  std::string next;     ///< what it will use after the next reset
};

/// The parameters of one device, by name.
struct NvListing {
  std::string device_type;  ///< "ConnectX7"; "" when it is not told
  std::map<std::string, NvParameter, std::less<>> parameters;
  /// Parameters whose line does not have a value for every column, with that line.
  std::map<std::string, std::string, std::less<>> unclear;
};

/// The columns are those named in the line that begins with "Configurations:": Default, Current and Next
/// Boot, or some of them (without -e). A listing without such a line has no parameters. The mark `*` is
/// dropped: it stands also where only default and current differ. DataLoss for a listing of two devices, for
/// a column that is not known, and for a parameter that is there twice.
Result<NvListing> DecodeMstconfig(std::string_view text);

/// Whether two values mean the same. The number decides where both have one ("True(1)" and "0x1"; `true` is
/// 1), else the word without regard to case ("eth" and "ETH(2)"). The number is what the card keeps: of
/// INTERNAL_CPU_OFFLOAD_ENGINE "ENABLED" is 0.
bool SameNvValue(std::string_view a, std::string_view b);

/// A value as `set` takes it, one spelling per meaning: "1" for "True(1)", "true" and "0x1", else the word as
/// it is.
std::string NvValueToSet(std::string_view value);

/// A parameter's name: A-Z 0-9 _ , at most 64, beginning with a letter. Elements of arrays have none.
bool IsNvName(std::string_view name);

/// A value that `set` may be given: letters, digits, _ . -, at most 64, and not beginning with "-".
bool IsNvValue(std::string_view value);

}  // namespace railwright
