// What `mstreg -d <bdf> --reg_name <REGISTER> --get` prints: an access register of a ConnectX card's
// firmware.
#pragma once

#include <string_view>

#include "core/decode/fields.h"
#include "railwright/result.h"

namespace railwright {

/// The fields between the table's two rules of `=`, in the order printed, as decimal numbers of 32 bits. A
/// name that stands there twice (an element of an array, of which the tool prints the leaf only) names no one
/// field and is left out. DataLoss: there is no table, it is cut, or a line is no `name | 0x00000000`.
Result<Fields> DecodeMstreg(std::string_view text);

/// A register's name: A-Z 0-9 _ , at most 32, beginning with a letter.
bool IsRegisterName(std::string_view name);

/// A field's name: letters, digits and _ , at most 64, beginning with a letter.
bool IsRegisterField(std::string_view name);

}  // namespace railwright
