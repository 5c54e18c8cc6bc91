// Shape: how many fields and how many levels a message has, before it is parsed.
#pragma once

#include <cstddef>
#include <string_view>

#include "railwright/result.h"

namespace google::protobuf {
class Descriptor;
}

namespace railwright::gate {

/// Two bytes of the wire can become an object of a hundred: what comes from a half that is not trusted is
/// counted first, and parsed only when it is within these.
struct Shape {
  std::size_t fields = 0;  ///< of all levels together; elements of packed fields count each
  int levels = 32;         ///< messages within messages
};

/// Ok when `bytes` may be parsed as a message of `type`. ResourceExhausted when it has more than `most`, or
/// uses groups, which proto3 does not have and which could hide fields from this count; InvalidArgument when
/// it is torn, at which a parser would stop too. Looks into fields that `type` declares as messages.
Status CheckShape(std::string_view bytes, const google::protobuf::Descriptor& type, Shape most);

}  // namespace railwright::gate
