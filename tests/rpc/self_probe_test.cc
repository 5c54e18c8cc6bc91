// SelfProbe: what feeds the watchdog, against a whole controller and against what only looks like one.
#include "controller/rpc/self_probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "core/files/descriptor.h"
#include "tests/rpc/controller_fixture.h"

namespace railwright {
namespace {

using std::chrono::milliseconds;

class SelfProbeTest : public ControllerTest {
 protected:
  std::unique_ptr<SelfProbe> Probe(const Address& at) {
    auto probe = std::make_unique<SelfProbe>(
        FleetPki::Get().ca().issuer(),
        SelfProbe::Terms{at, Must(identity::ServerName::Parse("127.0.0.1")), milliseconds(20),
                         milliseconds(500), [this](const Status& status, int misses) {
                           const std::lock_guard lock(mutex_);
                           told_.emplace_back(status, misses);
                         }});
    probe->Start();
    return probe;
  }
  std::pair<Status, int> Told(std::size_t at) {
    EXPECT_TRUE(Eventually([&] {
      const std::lock_guard lock(mutex_);
      return told_.size() > at;
    }));
    const std::lock_guard lock(mutex_);
    return told_.size() > at ? told_[at] : std::pair<Status, int>(Status(Code::kInternal, "nothing"), -1);
  }

  std::mutex mutex_;
  std::vector<std::pair<Status, int>> told_;
};

TEST_F(SelfProbeTest, IsAnsweredThroughThePortForStrangersAndThroughTheSocket) {
  for (const std::string& at : {controller_->agents(), controller_->address()}) {
    auto probe = Probe(*ParseAddress(at));
    const auto [status, misses] = Told(0);
    probe.reset();
    told_.clear();
    EXPECT_TRUE(status.ok()) << at << ": " << status.ToString();
    EXPECT_EQ(misses, 0);
  }
}

TEST_F(SelfProbeTest, APortThatTakesConnectionsAndNeverAnswersIsAMissEachTime) {
  const Descriptor listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  ASSERT_EQ(bind(listening.get(), reinterpret_cast<sockaddr*>(&here), size), 0);
  ASSERT_EQ(listen(listening.get(), 8), 0);  // the kernel accepts; nobody reads
  ASSERT_EQ(getsockname(listening.get(), reinterpret_cast<sockaddr*>(&here), &size), 0);
  const auto probe = Probe(*ParseAddress("127.0.0.1:" + std::to_string(ntohs(here.sin_port))));
  for (int miss = 1; miss <= 2; ++miss) {
    const auto [status, misses] = Told(static_cast<std::size_t>(miss) - 1);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(misses, miss);
  }
}

TEST_F(SelfProbeTest, OfAControllerThatStoppedIsAMissAndCountsAnewOnceItServesAgain) {
  const std::string socket = controller_->address();
  controller_.reset();
  const auto probe = Probe(*ParseAddress(socket));
  EXPECT_EQ(Told(0).second, 1);
  EXPECT_EQ(Told(1).second, 2);
  Start();
  EXPECT_TRUE(Eventually([&] {
    std::size_t last = 0;
    {
      const std::lock_guard lock(mutex_);
      last = told_.size() - 1;
    }
    const auto [status, misses] = Told(last);
    return status.ok() && misses == 0;
  }));
}

}  // namespace
}  // namespace railwright
