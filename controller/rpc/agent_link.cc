#include "controller/rpc/agent_link.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace railwright {
namespace {

using google::protobuf::io::CodedOutputStream;

// Field numbers of agent.proto and state.proto. They are written by hand here, and only here, so that a
// group's bytes need not be copied into a message for each node; link_test.cc parses the result with
// protobuf.
constexpr std::uint32_t Field(int number, int type) {
  return static_cast<std::uint32_t>(number) << 3 | static_cast<std::uint32_t>(type);
}
constexpr int kVarint = 0, kBytes = 2;

/// The bytes of a varint field, a length-delimited field's head, a whole text field.
class Wire {
 public:
  Wire& Number(int field, std::uint64_t value) {
    Varint(Field(field, kVarint));
    Varint(value);
    return *this;
  }
  Wire& Head(int field, std::size_t size) {
    Varint(Field(field, kBytes));
    Varint(size);
    return *this;
  }
  Wire& Text(int field, const std::string& text) {
    Head(field, text.size());
    bytes_ += text;
    return *this;
  }
  Wire& Append(const std::string& bytes) {
    bytes_ += bytes;
    return *this;
  }
  std::string Take() { return std::move(bytes_); }

 private:
  void Varint(std::uint64_t value) {
    std::uint8_t buffer[10];
    const std::uint8_t* end = CodedOutputStream::WriteVarint64ToArray(value, buffer);
    bytes_.append(reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(end - buffer));
  }
  std::string bytes_;
};

/// A v1::DesiredState split around its group.
struct Split {
  std::string head, tail;
  std::size_t size;  // of the whole
};

Split SplitDesired(std::uint64_t generation, const NodeDesired& desired, const std::string& envelope = {}) {
  Split split;
  split.head = Wire()
                   .Number(v1::DesiredState::kGenerationFieldNumber, generation)
                   .Head(v1::DesiredState::kGroupFieldNumber, desired.group->size())
                   .Take();
  split.tail = Wire()
                   .Text(v1::DesiredState::kOverlayFieldNumber, desired.overlay)
                   .Text(v1::DesiredState::kHashFieldNumber, desired.hash)
                   .Take();
  if (!envelope.empty()) split.tail += Wire().Text(v1::DesiredState::kEnvelopeFieldNumber, envelope).Take();
  split.size = split.head.size() + desired.group->size() + split.tail.size();
  return split;
}

}  // namespace

Outbound ToOutbound(const v1::ControllerMessage& message) {
  Outbound out;
  switch (message.body_case()) {
    case v1::ControllerMessage::kDesired: out.kind = Outbound::Kind::kDesired; break;
    case v1::ControllerMessage::kReportAck: out.kind = Outbound::Kind::kReportAck; break;
    case v1::ControllerMessage::kCommand: out.kind = Outbound::Kind::kCommand; break;
    case v1::ControllerMessage::kPauses: out.kind = Outbound::Kind::kPauses; break;
    default: out.kind = Outbound::Kind::kWelcome;
  }
  out.head = message.SerializeAsString();
  return out;
}

Outbound DesiredOutbound(std::uint64_t generation, const NodeDesired& desired, const std::string& envelope) {
  Split split = SplitDesired(generation, desired, envelope);
  Outbound out;
  out.kind = Outbound::Kind::kDesired;
  out.head = Wire().Head(v1::ControllerMessage::kDesiredFieldNumber, split.size).Append(split.head).Take();
  out.shared = desired.group;
  out.tail = std::move(split.tail);
  return out;
}

Outbound PlanOutbound(std::uint64_t id, std::int64_t deadline_ms, std::uint64_t generation,
                      const NodeDesired& desired) {
  Split split = SplitDesired(generation, desired);
  const std::string before =
      Wire()
          .Number(v1::Command::kIdFieldNumber, id)
          .Number(v1::Command::kDeadlineMsFieldNumber, static_cast<std::uint64_t>(deadline_ms))
          .Head(v1::Command::kPlanFieldNumber, split.size)
          .Take();
  Outbound out;
  out.kind = Outbound::Kind::kCommand;
  out.head = Wire()
                 .Head(v1::ControllerMessage::kCommandFieldNumber, before.size() + split.size)
                 .Append(before)
                 .Append(split.head)
                 .Take();
  out.shared = desired.group;
  out.tail = std::move(split.tail);
  return out;
}

}  // namespace railwright
