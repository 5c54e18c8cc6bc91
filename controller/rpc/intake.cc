#include "controller/rpc/intake.h"

#include <algorithm>
#include <limits>

namespace railwright {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// The longest prefix of at most `most` bytes that ends between characters.
std::string_view Whole(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

std::string Cut(const std::string& text, std::size_t most) {
  const std::string mark = "… [" + std::to_string(text.size()) + " bytes]";
  return std::string(Whole(text, most - mark.size())) + mark;
}

std::size_t MostOf(const FieldDescriptor& field) {
  const std::string& of = field.containing_type()->name();
  const std::string& name = field.name();
  if (of == "Hello" || name == "hash" || name == "state_hash" || name == "base_hash") return kIdentityMost;
  if (of == "Step" && (name == "from" || name == "to")) return kStepValueMost;
  return kTextMost;
}

void BoundTexts(Message& message, const Reflection& has, const FieldDescriptor& field) {
  const std::size_t most = MostOf(field);
  std::string scratch;
  if (!field.is_repeated()) {
    const std::string& text = has.GetStringReference(message, &field, &scratch);
    if (text.size() <= most) return;
    if (auto* observed = dynamic_cast<v1::ObservedValue*>(&message); observed != nullptr) {
      // A part of a value is no value, and nothing that could be asked for.
      if (field.number() == v1::ObservedValue::kValueFieldNumber && observed->cut_from() == 0)
        observed->set_cut_from(text.size());
      if (field.number() == v1::ObservedValue::kWishFieldNumber)
        observed->set_no_wish("too long to be told whole [" + std::to_string(text.size()) + " bytes]");
    }
    has.SetString(&message, &field, Cut(text, most));
    return;
  }
  while (has.FieldSize(message, &field) > kListMost) has.RemoveLast(&message, &field);
  for (int i = 0; i < has.FieldSize(message, &field); ++i) {
    const std::string& text = has.GetRepeatedStringReference(message, &field, i, &scratch);
    if (text.size() > most) has.SetRepeatedString(&message, &field, i, Cut(text, most));
  }
}

int MostMessages(const FieldDescriptor& field) {
  if (field.containing_type()->name() != "ObservedNode") return std::numeric_limits<int>::max();
  return field.name() == "values" ? kObservedValuesMost : kObservedPortsMost;
}

void BoundAll(Message& message) {
  const Reflection& has = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;  // those that are set
  has.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING: BoundTexts(message, has, *field); break;
      case FieldDescriptor::CPPTYPE_UINT64:
        if (!field->is_repeated() && has.GetUInt64(message, field) > kNumberMost)
          has.SetUInt64(&message, field, kNumberMost);
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (!field->is_repeated()) {
          BoundAll(*has.MutableMessage(&message, field));
        } else {
          while (has.FieldSize(message, field) > MostMessages(*field)) has.RemoveLast(&message, field);
          for (int i = 0; i < has.FieldSize(message, field); ++i)
            BoundAll(*has.MutableRepeatedMessage(&message, field, i));
        }
        break;
      default: break;
    }
  }
  // What a newer agent adds is not kept, and not carried along either.
  has.MutableUnknownFields(&message)->Clear();
}

}  // namespace

void Bound(v1::AgentMessage& message) { BoundAll(message); }

}  // namespace railwright
