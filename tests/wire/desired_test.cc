#include <gtest/gtest.h>

#include "core/wire/wire.h"

namespace railwright {
namespace {

v1::SettingSpec Spec(const std::string& key, const std::string& target, const std::string& value) {
  v1::SettingSpec spec;
  spec.set_key(key);
  spec.set_target(target);
  spec.set_value(value);
  spec.set_mode(v1::MODE_ENFORCE);
  spec.mutable_origin()->set_place("site.yaml:9:7");
  return spec;
}

struct Parts {
  v1::GroupPayload group;
  v1::NodeOverlay overlay;
  Parts() {
    group.set_cluster("pod-a");
    group.add_subnets("10.10.0.0/24");
    *group.add_settings() = Spec("link.mtu", "rail0", "4200");
    overlay.set_node("gpu-001");
    v1::Port* port = overlay.add_ports();
    port->set_name("rail0");
    port->set_role(v1::PORT_ROLE_FABRIC);
    *overlay.add_settings() = Spec("nccl.NCCL_IB_HCA", "", "mlx5_0");
    v1::KeyTarget* restore = overlay.add_restore();
    restore->set_key("link.channels");
    restore->set_target("rail0");
  }
  v1::DesiredState Sealed() const {
    v1::DesiredState message;
    message.set_generation(7);
    message.set_group(group.SerializeAsString());
    message.set_overlay(overlay.SerializeAsString());
    message.set_hash(StateHash(message.group(), message.overlay()));
    return message;
  }
};

TEST(StateHash, IsSha256OverGroupThenOverlay) {
  // NIST's vector for "abc", FIPS 180-2 appendix B.1.
  EXPECT_EQ(StateHash("ab", "c"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(DesiredStateFromWire, MergesGroupAndOverlay) {
  const auto state = FromWire(Parts().Sealed());
  ASSERT_TRUE(state.ok()) << state.status().ToString();
  EXPECT_EQ(state->generation, Generation{7});
  EXPECT_EQ(state->node, "gpu-001");
  EXPECT_EQ(state->cluster, "pod-a");
  EXPECT_EQ(state->subnets, std::vector<std::string>{"10.10.0.0/24"});
  ASSERT_EQ(state->settings.size(), 2U);
  EXPECT_EQ(state->settings[0].key, "link.mtu");
  EXPECT_EQ(state->settings[1].key, "nccl.NCCL_IB_HCA");
  EXPECT_EQ(state->settings[0].mode, Mode::kEnforce);
  ASSERT_EQ(state->ports.size(), 1U);
  EXPECT_EQ(state->ports[0].role, PortRole::kFabric);
  ASSERT_EQ(state->restore.size(), 1U);
  EXPECT_EQ(state->hash, StateHash(Parts().Sealed().group(), Parts().Sealed().overlay()));
}

TEST(DesiredStateFromWire, AnyFlippedBitIsDataLoss) {
  const v1::DesiredState good = Parts().Sealed();
  for (std::size_t i = 0; i < good.group().size() + good.overlay().size(); ++i) {
    v1::DesiredState bad = good;
    std::string& bytes = i < good.group().size() ? *bad.mutable_group() : *bad.mutable_overlay();
    char& byte = bytes[i < good.group().size() ? i : i - good.group().size()];
    byte = static_cast<char>(byte ^ 4);
    const auto state = FromWire(bad);
    ASSERT_FALSE(state.ok()) << i;
    EXPECT_EQ(state.status().code(), Code::kDataLoss);
  }
}

TEST(DesiredStateFromWire, AMissingHashIsDataLoss) {
  v1::DesiredState message = Parts().Sealed();
  message.clear_hash();
  EXPECT_EQ(FromWire(message).status().code(), Code::kDataLoss);
}

TEST(DesiredStateFromWire, BytesThatAreNoMessageAreRefused) {
  v1::DesiredState message = Parts().Sealed();
  message.set_group("\x0a\xff not a payload");
  message.set_hash(StateHash(message.group(), message.overlay()));
  const auto state = FromWire(message);
  ASSERT_FALSE(state.ok());
  EXPECT_EQ(state.status().code(), Code::kInvalidArgument);
  EXPECT_NE(state.status().message().find("group payload"), std::string::npos) << state.status().message();
}

void ExpectRefused(const Parts& parts, const std::string& said) {
  const auto state = FromWire(parts.Sealed());
  ASSERT_FALSE(state.ok()) << said;
  EXPECT_EQ(state.status().code(), Code::kInvalidArgument);
  EXPECT_NE(state.status().message().find(said), std::string::npos) << state.status().message();
}

TEST(DesiredStateFromWire, ASettingInBothGroupAndOverlayIsRefused) {
  Parts parts;
  *parts.overlay.add_settings() = Spec("link.mtu", "rail0", "9000");
  ExpectRefused(parts, "link.mtu on rail0 is set twice (site.yaml:9:7)");
}

TEST(DesiredStateFromWire, ASettingBothSetAndRestoredIsRefused) {
  Parts parts;
  *parts.overlay.add_settings() = Spec("link.channels", "rail0", "8");
  ExpectRefused(parts, "link.channels on rail0 is both set and to be restored");
}

TEST(DesiredStateFromWire, APortDeclaredTwiceIsRefused) {
  Parts parts;
  parts.overlay.add_ports()->set_name("rail0");
  ExpectRefused(parts, "port rail0 is declared twice");
}

TEST(DesiredStateFromWire, AnEmptyStateIsNeverMistakenForNothingWanted) {
  v1::DesiredState message;
  message.set_generation(1);
  message.set_hash(StateHash("", ""));
  const auto state = FromWire(message);
  ASSERT_FALSE(state.ok());
  EXPECT_NE(state.status().message().find("names no node"), std::string::npos);
}

TEST(DesiredStateFromWire, GenerationZeroIsRefused) {
  v1::DesiredState message = Parts().Sealed();
  message.set_generation(0);
  EXPECT_EQ(FromWire(message).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace railwright
