#include <gtest/gtest.h>

#include <limits>

#include "core/wire/wire.h"

namespace railwright {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Gives every field of a message, at any depth, a value of its own: a conversion that forgets a field, or
// takes one for another, cannot give the same message back.
void FillEveryField(Message& message, int& next) {
  const auto* descriptor = message.GetDescriptor();
  const auto* reflection = message.GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    for (int copy = 0; copy < (field->is_repeated() ? 2 : 1); ++copy) {
      const int value = ++next;
      const std::string text = field->name() + " no. " + std::to_string(value);
      const auto* choice =
          field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM
              ? field->enum_type()->value(1 + value % (field->enum_type()->value_count() - 1))
              : nullptr;
      const bool many = field->is_repeated();
      switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_STRING:
          many ? reflection->AddString(&message, field, text) : reflection->SetString(&message, field, text);
          break;
        case FieldDescriptor::CPPTYPE_MESSAGE:
          FillEveryField(
              many ? *reflection->AddMessage(&message, field) : *reflection->MutableMessage(&message, field),
              next);
          break;
        case FieldDescriptor::CPPTYPE_ENUM: reflection->SetEnum(&message, field, choice); break;
        case FieldDescriptor::CPPTYPE_BOOL: reflection->SetBool(&message, field, true); break;
        case FieldDescriptor::CPPTYPE_UINT64:
          reflection->SetUInt64(&message, field, static_cast<std::uint64_t>(value));
          break;
        case FieldDescriptor::CPPTYPE_INT64: reflection->SetInt64(&message, field, value); break;
        default: FAIL() << "a kind of field that this test does not fill: " << field->full_name();
      }
    }
  }
}

template <class T>
class WireMessages : public testing::Test {};
using Converted = testing::Types<v1::Origin, v1::Port, v1::SettingSpec, v1::Finding, v1::ChangeRecord,
                                 v1::Step, v1::Plan, v1::Pause>;
TYPED_TEST_SUITE(WireMessages, Converted);

TYPED_TEST(WireMessages, NoFieldIsLostOrMixedUp) {
  int next = 0;
  TypeParam message;
  FillEveryField(message, next);
  EXPECT_EQ(ToWire(FromWire(message)).DebugString(), message.DebugString());
}

TYPED_TEST(WireMessages, AnEmptyMessageIsUnderstood) {
  const auto once = ToWire(FromWire(TypeParam{}));
  EXPECT_EQ(ToWire(FromWire(once)).DebugString(), once.DebugString());
}

TEST(WireChangeRecord, HostileTimesAreBoundedNotOverflown) {
  v1::ChangeRecord message;
  message.set_at_unix_us(std::numeric_limits<std::int64_t>::max());
  message.set_took_us(std::numeric_limits<std::int64_t>::min());
  const ChangeRecord change = FromWire(message);
  EXPECT_GT(change.at.time_since_epoch().count(), 0);
  EXPECT_EQ(change.took.count(), 0);
}

NodeReport TwoFindings() {
  NodeReport report;
  Finding mtu;
  mtu.code = "RW-1101";
  mtu.key = "link.mtu";
  mtu.target = "rail0";
  mtu.desired = mtu.observed = "4200";
  mtu.verdict = Verdict::kCompliant;
  Finding sysctl = mtu;
  sysctl.key = "sysctl.net.ipv4.ip_forward";
  sysctl.target = "";
  report.findings = {mtu, sysctl};
  return report;
}

TEST(ReportHash, IsTheSameForAnyOrderOfFindings) {
  NodeReport report = TwoFindings(), turned = report;
  std::swap(turned.findings[0], turned.findings[1]);
  EXPECT_EQ(ReportHash(report), ReportHash(turned));
  EXPECT_EQ(ReportHash(report).size(), 64U);
}

TEST(ReportHash, ChangesWithEveryFieldOfAFinding) {
  const NodeReport report = TwoFindings();
  const std::string before = ReportHash(report);
  int next = 0;
  v1::Finding filled;
  FillEveryField(filled, next);
  const auto* descriptor = v1::Finding::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    v1::Finding wire = ToWire(report.findings[0]);
    // Take over this one field.
    v1::Finding one = filled;
    for (int other = 0; other < descriptor->field_count(); ++other)
      if (other != i) one.GetReflection()->ClearField(&one, descriptor->field(other));
    wire.GetReflection()->ClearField(&wire, field);
    wire.MergeFrom(one);
    NodeReport changed = report;
    changed.findings[0] = FromWire(wire);
    if (changed.findings[0] == report.findings[0]) continue;  // the filler chose the value it had
    EXPECT_NE(ReportHash(changed), before) << field->name();
  }
}

TEST(ReportHash, TextMovedFromOneFieldToTheNextIsSeen) {
  NodeReport one = TwoFindings(), other = one;
  one.findings[0].reason = "ab";
  one.findings[0].message = "c";
  other.findings[0].reason = "a";
  other.findings[0].message = "bc";
  EXPECT_NE(ReportHash(one), ReportHash(other));
}

TEST(WireFinding, ATextThatIsNoUtf8StillMakesAMessageThatCanBeRead) {
  NodeReport report = TwoFindings();
  report.findings[0].observed = "options \xff\xfe\n";
  report.findings[0].evidence = {"\x80"};
  v1::Report message;
  *message.add_findings() = ToWire(report.findings[0]);
  v1::Report parsed;
  ASSERT_TRUE(parsed.ParseFromString(message.SerializeAsString()));
  NodeReport seen = report;
  seen.findings[0] = FromWire(parsed.findings(0));
  EXPECT_EQ(seen.findings[0].observed, "options \xef\xbf\xbd\xef\xbf\xbd\n");
  EXPECT_EQ(ReportHash(seen), ReportHash(report));
}

TEST(HashPrefix8, IsTheFirstEightBytes) {
  EXPECT_EQ(HashPrefix8("00ff10a0"
                        "0102030405060708"),
            (std::string("\x00\xff\x10\xa0\x01\x02\x03\x04", 8)));
  EXPECT_EQ(HashPrefix8("00ff"), "");
  EXPECT_EQ(HashPrefix8("no hash at all, but long"), "");
}

TEST(WireFeatures, AreSortedAndNamed) {
  const auto& features = WireFeatures();
  EXPECT_TRUE(std::is_sorted(features.begin(), features.end()));
  EXPECT_FALSE(features.empty());
}

}  // namespace
}  // namespace railwright
