#include <gtest/gtest.h>

#include "core/wire/wire.h"

namespace railwright {
namespace {

template <class WireEnum, class Domain>
void EachKnownNumberComesBack(const google::protobuf::EnumDescriptor* descriptor, Domain) {
  for (int i = 0; i < descriptor->value_count(); ++i) {
    const int number = descriptor->value(i)->number();
    if (number == 0) continue;  // unspecified: has its own tests below
    const auto wire = static_cast<WireEnum>(number);
    EXPECT_EQ(static_cast<int>(ToWire(FromWire(wire))), number) << descriptor->value(i)->name();
  }
}

TEST(WireEnums, EveryKnownNumberSurvivesBothWays) {
  EachKnownNumberComesBack<v1::Verdict>(v1::Verdict_descriptor(), Verdict{});
  EachKnownNumberComesBack<v1::Mode>(v1::Mode_descriptor(), Mode{});
  EachKnownNumberComesBack<v1::Disruption>(v1::Disruption_descriptor(), Disruption{});
  EachKnownNumberComesBack<v1::ChangeKind>(v1::ChangeKind_descriptor(), ChangeKind{});
  EachKnownNumberComesBack<v1::PortRole>(v1::PortRole_descriptor(), PortRole{});
}

TEST(WireEnums, AnUnspecifiedOrUnknownVerdictIsUnknown) {
  EXPECT_EQ(FromWire(v1::VERDICT_UNSPECIFIED), Verdict::kUnknown);
  EXPECT_EQ(FromWire(static_cast<v1::Verdict>(77)), Verdict::kUnknown);
}

TEST(WireEnums, AnUnspecifiedOrUnknownModeOnlyObserves) {
  EXPECT_EQ(FromWire(v1::MODE_UNSPECIFIED), Mode::kObserve);
  EXPECT_EQ(FromWire(static_cast<v1::Mode>(77)), Mode::kObserve);
}

TEST(WireEnums, AnUnspecifiedOrUnknownDisruptionIsTheWorst) {
  EXPECT_EQ(FromWire(v1::DISRUPTION_UNSPECIFIED), Disruption::kPowerCycle);
  EXPECT_EQ(FromWire(static_cast<v1::Disruption>(77)), Disruption::kPowerCycle);
}

TEST(WireEnums, AnUnspecifiedOrUnknownPortRoleIsNeverFabric) {
  EXPECT_EQ(FromWire(v1::PORT_ROLE_UNSPECIFIED), PortRole::kUnspecified);
  EXPECT_EQ(FromWire(static_cast<v1::PortRole>(77)), PortRole::kUnspecified);
}

}  // namespace
}  // namespace railwright
