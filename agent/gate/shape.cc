#include "agent/gate/shape.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>

#include <cstdint>
#include <string>

namespace railwright::gate {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::io::CodedInputStream;

// Wire types of protobuf's encoding.
enum : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

class Walk {
 public:
  explicit Walk(Shape most) : left_(most.fields), most_(most) {}

  // Up to the limit that is set on `in`.
  Status Message(CodedInputStream& in, const Descriptor& type, int level) {
    if (level > most_.levels) return TooMuch("more than " + std::to_string(most_.levels) + " levels");
    while (const std::uint32_t tag = in.ReadTag()) {
      RW_RETURN_IF_ERROR(Count(1));
      RW_RETURN_IF_ERROR(Field(in, type, tag, level));
    }
    return in.ConsumedEntireMessage() ? Ok() : Torn();
  }

 private:
  static Status Torn() { return Status(Code::kInvalidArgument, "torn bytes"); }
  static Status TooMuch(const std::string& what) { return Status(Code::kResourceExhausted, what); }

  Status Count(std::size_t fields) {
    if (fields > left_) return TooMuch("more than " + std::to_string(most_.fields) + " fields");
    left_ -= fields;
    return Ok();
  }

  Status Field(CodedInputStream& in, const Descriptor& type, std::uint32_t tag, int level) {
    std::uint64_t wide = 0;
    std::uint32_t narrow = 0;
    switch (tag & 7) {
      case kVarint: return in.ReadVarint64(&wide) ? Ok() : Torn();
      case kFixed64: return in.ReadLittleEndian64(&wide) ? Ok() : Torn();
      case kFixed32: return in.ReadLittleEndian32(&narrow) ? Ok() : Torn();
      case kBytes: break;
      default: return TooMuch("a group");
    }
    if (!in.ReadVarint32(&narrow) || narrow > static_cast<std::uint32_t>(in.BytesUntilLimit())) return Torn();
    const int size = static_cast<int>(narrow);
    const FieldDescriptor* field = type.FindFieldByNumber(static_cast<int>(tag >> 3));
    if (field != nullptr && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const auto outer = in.PushLimit(size);
      RW_RETURN_IF_ERROR(Message(in, *field->message_type(), level + 1));
      in.PopLimit(outer);
      return Ok();
    }
    // A packed field has at most one element a byte.
    if (field != nullptr && field->is_packable()) RW_RETURN_IF_ERROR(Count(narrow));
    return in.Skip(size) ? Ok() : Torn();
  }

  std::size_t left_;
  const Shape most_;
};

}  // namespace

Status CheckShape(std::string_view bytes, const Descriptor& type, Shape most) {
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  in.PushLimit(static_cast<int>(bytes.size()));
  return Walk(most).Message(in, type, 1);
}

}  // namespace railwright::gate
