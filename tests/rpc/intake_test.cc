// What an agent says is cut to what may be kept: every field of every message, by reflection, so that none is
// forgotten.
#include "controller/rpc/intake.h"

#include <gtest/gtest.h>

#include <limits>

#include "railwright/utf8.h"

namespace railwright {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

/// Puts `text` into every text (`lists` of them into every list) and the greatest number into every number;
/// of a oneof the field `body` of the outermost message.
void Fill(Message& message, const FieldDescriptor* body, const std::string& text, int lists) {
  const auto& has = *message.GetReflection();
  const Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (field->real_containing_oneof() != nullptr && field != body) continue;
    const bool list = field->is_repeated();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        if (!list) has.SetString(&message, field, text);
        for (int n = 0; list && n < lists; ++n) has.AddString(&message, field, text);
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        if (!list) has.SetUInt64(&message, field, std::numeric_limits<std::uint64_t>::max());
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        Fill(list ? *has.AddMessage(&message, field) : *has.MutableMessage(&message, field), nullptr, text,
             lists);
        break;
      default: break;
    }
  }
}

struct Seen {
  int texts = 0, numbers = 0;
};

void Check(const Message& message, Seen& seen) {
  const auto& has = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  has.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int size = field->is_repeated() ? has.FieldSize(message, field) : 1;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      EXPECT_LE(size, kListMost) << field->full_name();
    }
    for (int i = 0; i < size; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        ++seen.texts;
        const std::string text =
            field->is_repeated() ? has.GetRepeatedString(message, field, i) : has.GetString(message, field);
        const bool value =
            field->full_name() == "railwright.v1.Step.from" || field->full_name() == "railwright.v1.Step.to";
        EXPECT_LE(text.size(), value ? kStepValueMost : kTextMost) << field->full_name();
        EXPECT_EQ(ValidUtf8(text), text) << field->full_name();
        EXPECT_TRUE(text.ends_with(" bytes]")) << field->full_name() << ": it must be seen that it was cut";
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
        ++seen.numbers;
        EXPECT_EQ(has.GetUInt64(message, field), kNumberMost) << field->full_name();
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        Check(
            field->is_repeated() ? has.GetRepeatedMessage(message, field, i) : has.GetMessage(message, field),
            seen);
      }
    }
  }
}

TEST(BoundTest, EveryTextListAndNumberOfEveryMessageIsCut) {
  std::string text;  // three bytes a character, so that most cuts would fall into one
  while (text.size() < kStepValueMost + 100) text += "\u20ac";
  const Descriptor& type = *v1::AgentMessage::descriptor();
  Seen seen;
  for (int i = 0; i < type.field_count(); ++i) {
    v1::AgentMessage message;
    Fill(message, type.field(i), text, kListMost + 3);
    Bound(message);
    Check(message, seen);
  }
  EXPECT_GT(seen.texts, 60);
  EXPECT_GE(seen.numbers, 9);
}

TEST(BoundTest, WhoAnAgentIsHasAShorterLimit) {
  v1::AgentMessage message;
  message.mutable_hello()->set_version(std::string(5000, 'v'));
  message.mutable_hello()->add_features(std::string(5000, 'f'));
  Bound(message);
  EXPECT_EQ(message.hello().version().size(), kIdentityMost);
  EXPECT_LE(message.hello().features(0).size(), kIdentityMost);
  EXPECT_TRUE(message.hello().version().ends_with("v… [5000 bytes]")) << message.hello().version();
}

TEST(BoundTest, WhatIsWithinTheLimitsStaysByteForByte) {
  v1::AgentMessage message;
  Fill(message, v1::AgentMessage::descriptor()->FindFieldByName("report"), std::string(64, 'x'), 65);
  message.mutable_report()->mutable_findings(0)->set_observed(std::string(kTextMost, 'o'));
  message.mutable_report()->set_sequence(7);
  message.mutable_report()->set_generation(kNumberMost);
  message.mutable_report()->mutable_changes(0)->set_sequence(8);
  message.mutable_report()->mutable_changes(0)->set_generation(9);
  const std::string before = message.SerializeAsString();
  Bound(message);
  EXPECT_EQ(message.SerializeAsString(), before);
}

}  // namespace
}  // namespace railwright
