// The program itself: its commands, its errors, kill -9, SIGTERM.
#include "tests/rpc/program.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "core/enrol/ask.h"
#include "core/files/descriptor.h"
#include "tests/rpc/fake_agent.h"
#include "tests/store/temp_dir.h"

namespace railwright {
namespace {

using Body = v1::ControllerMessage;

class ProgramTest : public testing::Test {
 protected:
  std::string state() const { return directory_ / "state"; }
  std::string address() const { return "unix:" + state() + "/controller.sock"; }
  std::string log() const { return directory_ / "log"; }
  std::pair<int, std::string> Run(std::vector<std::string> arguments) {
    return RunController(std::move(arguments), directory_.path());
  }
  std::unique_ptr<Program> Serve() {
    return std::make_unique<Program>(
        std::vector<std::string>{"serve", "--state-dir", state(), "--listen", agents_, "--enrol", enrol_},
        log());
  }
  void Init() {
    ASSERT_EQ(Run({"init", "--state-dir", state(), "--cluster", "pod-a", "--name", "127.0.0.1"}).first, 0);
  }
  /// A node's own way in, by a token of this controller's; the same for each call.
  std::shared_ptr<grpc::ChannelCredentials> Joined(const std::string& node) {
    const std::lock_guard lock(mutex_);
    if (const auto found = joined_.find(node); found != joined_.end()) return found->second;
    FakeAdmin admin(address());
    v1::CreateTokenRequest request;
    request.set_kind(v1::MEMBER_KIND_NODE);
    request.set_name(node);
    v1::CreateTokenResponse token;
    const auto asked = admin.Ask(&v1::AdminService::Stub::CreateToken, request, &token);
    EXPECT_TRUE(asked.ok()) << asked.error_message();
    const auto line = Must(identity::JoinLine::Parse(token.join_line()));
    const auto key = TestCa::NewKey();
    std::optional<identity::IssuedAnswer> answer;
    EXPECT_TRUE(Eventually([&] {  // the port opens within a second of the token
      auto issued = enrol::Join(line, {node, "", {}}, key, std::chrono::system_clock::now());
      if (issued.ok()) answer = std::move(*issued);
      return answer.has_value();
    }));
    auto credentials = Must(tls::ClientCredentials(
        {identity::Certificate::ChainToPem(answer->chain),
         std::string(Must(key.ToPem()).Reveal()),
         answer->roots,
         {answer->cluster, identity::Purpose::kServer, Must(identity::ServerName::Parse("127.0.0.1"))},
         [] { return std::chrono::system_clock::now(); }},
        std::make_shared<tls::Verdict>()));
    return joined_.emplace(node, std::move(credentials)).first->second;
  }
  /// That was free a moment ago.
  static std::string FreeAddress() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
    close(fd);
    return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  TempDir directory_;
  const std::string agents_ = FreeAddress(), enrol_ = FreeAddress();
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<grpc::ChannelCredentials>> joined_;
};

TEST_F(ProgramTest, UsageErrorsExit64AndHelpAndVersionExit0) {
  EXPECT_EQ(Run({}).first, 64);
  EXPECT_EQ(Run({"serve"}).first, 64);
  EXPECT_EQ(Run({"frobnicate"}).first, 64);
  EXPECT_EQ(Run({"serve", "--state-dir", state(), "--log", "xml"}).first, 64);
  EXPECT_EQ(Run({"--help"}).first, 0);
  const auto [code, version] = Run({"--version"});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(version, "railwright-controller " RAILWRIGHT_VERSION "\n");
}

TEST_F(ProgramTest, AMissingStateDirectoryNamesInitAndInitMakesIt) {
  const auto [code, text] = Run({"serve", "--state-dir", state()});
  EXPECT_EQ(code, 1);
  EXPECT_NE(text.find("railwright-controller init --state-dir " + state()), std::string::npos) << text;
  Init();
  const auto [again, told] = Run({"init", "--state-dir", state()});
  EXPECT_EQ(again, 0) << "once more does no harm";
  EXPECT_NE(told.find("there already"), std::string::npos) << told;
}

TEST_F(ProgramTest, SystemdHearsThatItServesAndThenThatItAnswersItsOwnCall) {
  // A name that is not the address which it listens on.
  ASSERT_EQ(Run({"init", "--state-dir", state(), "--cluster", "pod-a", "--name", "controller.example"}).first,
            0);
  const std::string notify = directory_ / "notify";
  const Descriptor heard(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un here{};
  here.sun_family = AF_UNIX;
  ASSERT_LT(notify.copy(here.sun_path, sizeof here.sun_path - 1), sizeof here.sun_path - 1);
  ASSERT_EQ(bind(heard.get(), reinterpret_cast<sockaddr*>(&here), sizeof here), 0);
  const timeval most{20, 0};
  ASSERT_EQ(setsockopt(heard.get(), SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most), 0);
  const auto next = [&] {
    char text[256];
    const ssize_t got = recv(heard.get(), text, sizeof text, 0);
    return got < 0 ? "nothing" : std::string(text, static_cast<std::size_t>(got));
  };
  Program program({"serve", "--state-dir", state(), "--listen", agents_, "--enrol", enrol_}, log(),
                  "export NOTIFY_SOCKET=" + notify);
  EXPECT_EQ(next(), "READY=1");
  EXPECT_EQ(next(), "WATCHDOG=1");
  EXPECT_EQ(program.Kill(SIGTERM), 0);
  EXPECT_EQ(next(), "STOPPING=1");
  std::ifstream in(log());
  const std::string said(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(said.find("gRPC"), std::string::npos) << "a line for each of its calls:\n" << said;
}

TEST_F(ProgramTest, AStoreThatHasGoneIsNotReplacedByAnEmptyOne) {
  Init();
  std::filesystem::remove(state() + "/" + kStoreFile);
  const auto [code, text] = Run({"serve", "--state-dir", state()});
  EXPECT_EQ(code, 1);
  EXPECT_NE(text.find("is gone. Restore a backup"), std::string::npos) << text;
}

TEST_F(ProgramTest, AnAddressThatIsNoneOrNotLocalIsAWrongCommandLine) {
  // Without a store: the command line is judged before anything is opened.
  for (const std::string garbage : {"GARBAGE", "127.0.0.1:99999", "::1", "unix:", "tcp://127.0.0.1:1"}) {
    const auto [code, text] = Run({"serve", "--state-dir", state(), "--listen", garbage});
    EXPECT_EQ(code, 64) << garbage;
    EXPECT_NE(text.find("--listen: address \"" + garbage + "\""), std::string::npos) << text;
    EXPECT_NE(text.find("expected unix:/path, 127.0.0.1:PORT, [::1]:PORT or HOST:PORT"), std::string::npos)
        << text;
  }
  for (const char* gone : {"--without-identity-or-encryption", "--insecure"})
    EXPECT_EQ(Run({"serve", "--state-dir", state(), gone}).first, 64)
        << "there is no way around certificates";
  const auto [enrol, why] = Run({"serve", "--state-dir", state(), "--enrol", "somewhere"});
  EXPECT_EQ(enrol, 64);
  EXPECT_NE(why.find("--enrol"), std::string::npos) << why;
}

TEST_F(ProgramTest, ALimitOfDescriptorsThatIsLowForTheInventoryIsTold) {
  Init();
  {
    const auto program = Serve();
    ASSERT_TRUE(FakeAdmin(address()).Apply(SiteYaml(4200, "gpu-[001-100]")).status.ok());
    EXPECT_EQ(program->Kill(SIGTERM), 0);
  }
  const auto log_of = [&](const std::string& limit) {
    const std::string file = directory_ / ("log" + limit);
    Program program({"serve", "--state-dir", state()}, file, "ulimit -S -n 200 && ulimit -H -n " + limit);
    FakeAdmin(address()).Status();
    EXPECT_EQ(program.Kill(SIGTERM), 0);
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(log_of("300").find("RLIMIT_NOFILE"), std::string::npos)
      << "the soft limit is raised to the hard one";
  const std::string text = log_of("299");
  EXPECT_NE(text.find("may have 299 files and sockets open (hard limit RLIMIT_NOFILE)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("100 nodes needs about 300"), std::string::npos) << text;
  EXPECT_NE(text.find("LimitNOFILE=600"), std::string::npos) << text;
}

TEST_F(ProgramTest, ADamagedStoreIsRefused) {
  Init();
  WriteFile(state() + "/" + kStoreFile, "rubbish");
  const auto [damaged, text] = Run({"serve", "--state-dir", state()});
  EXPECT_EQ(damaged, 1);
  EXPECT_NE(text.find("railwright-controller restore FILE --state-dir " + state()), std::string::npos)
      << text;
}

TEST_F(ProgramTest, APortInUseIsNamed) {
  Init();
  const auto first = Serve();
  FakeAdmin(address()).Status();
  TempDir other;
  ASSERT_EQ(Run({"init", "--state-dir", other / "s"}).first, 0);
  const auto [code, text] = Run({"serve", "--state-dir", other / "s", "--listen", address()});
  EXPECT_EQ(code, 1);
  EXPECT_NE(text.find("another program listens there"), std::string::npos) << text;
  EXPECT_EQ(FakeAdmin(address()).Status().generation(), 0u) << "the first still answers";
}

TEST_F(ProgramTest, BackupWhileServingAndRestoreAfterwards) {
  Init();
  auto program = Serve();
  ASSERT_TRUE(FakeAdmin(address()).Apply(SiteYaml()).status.ok());
  EXPECT_EQ(Run({"backup", directory_ / "b.db", "--state-dir", state()}).first, 0);
  EXPECT_EQ(Run({"backup", directory_ / "b.db", "--state-dir", state()}).first, 1) << "never overwrites";
  ASSERT_TRUE(FakeAdmin(address()).Apply(SiteYaml(9000)).status.ok());
  const auto [busy, text] = Run({"restore", directory_ / "b.db", "--state-dir", state()});
  EXPECT_EQ(busy, 1);
  EXPECT_NE(text.find("stop it first"), std::string::npos) << text;
  EXPECT_EQ(program->Kill(SIGTERM), 0);
  EXPECT_EQ(Run({"restore", directory_ / "b.db", "--state-dir", state()}).first, 0);
  program = Serve();
  EXPECT_EQ(FakeAdmin(address()).Status().generation(), 1u);
}

TEST_F(ProgramTest, SigtermEndsItWithinThreeSecondsEvenWithClientsThatHang) {
  Init();
  const auto program = Serve();
  ASSERT_TRUE(FakeAdmin(address()).Apply(SiteYaml()).status.ok());
  FakeAgent hanging(agents_, "gpu-001", std::chrono::seconds(30), Joined("gpu-001"));
  FakeAgent silent(agents_, "gpu-002", std::chrono::seconds(30), Joined("gpu-002"));
  ASSERT_TRUE(hanging.Hello());
  FakeAdmin admin(address());
  grpc::ClientContext context;
  FakeAdmin::Prepare(context);
  auto watch = admin.stub().Watch(&context, v1::WatchRequest());
  v1::WatchEvent event;
  ASSERT_TRUE(watch->Read(&event));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(program->Kill(SIGTERM), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_FALSE(std::filesystem::exists(state() + "/controller.sock"));
}

TEST_F(ProgramTest, TheJsonLogIsOneObjectALine) {
  Init();
  Program program({"serve", "--state-dir", state(), "--log", "json"}, log());
  FakeAdmin(address()).Status();
  EXPECT_EQ(program.Kill(SIGTERM), 0);
  std::ifstream in(log());
  std::string line;
  int lines = 0;
  while (std::getline(in, line)) {
    ++lines;
    EXPECT_TRUE(line.starts_with("{\"time\":\"20") && line.ends_with("\"}")) << line;
  }
  EXPECT_GE(lines, 3);
}

TEST_F(ProgramTest, KillNineLosesNoAcknowledgedReportOrGeneration) {
  Init();
  std::uint64_t generation = 0;
  std::map<std::string, std::uint64_t> acknowledged;  // node → highest change that was acknowledged
  int killed = 0;
  for (int round = 0; round < 5; ++round) {
    const auto program = Serve();
    if (round == 0) {
      ASSERT_TRUE(FakeAdmin(address()).Apply(SiteYaml()).status.ok());
      generation = 1;
    }
    std::atomic<int> acknowledgements{0};
    std::atomic<bool> killed_now{false};
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (const char* node : {"gpu-001", "gpu-002", "gpu-003"})
      threads.emplace_back([&, node] {
        FakeAgent agent(agents_, node, std::chrono::seconds(30), Joined(node));
        if (!agent.Hello()) return;
        const auto welcome = agent.Await(Body::kWelcome).welcome();
        std::uint64_t change = welcome.stored_change();
        {
          std::lock_guard lock(mutex);
          EXPECT_GE(change, acknowledged[node]) << node << " lost an acknowledged report";
        }
        agent.AwaitState();
        for (std::uint64_t n = 1;; ++n) {
          if (!agent.Report(n, n % 2 ? Verdict::kDrifted : Verdict::kCompliant, ++change)) return;
          const auto message = agent.Await(Body::kReportAck);
          if (!message.has_report_ack()) return;
          std::lock_guard lock(mutex);
          acknowledged[node] = std::max(acknowledged[node], message.report_ack().stored_change());
          ++acknowledgements;
        }
      });
    threads.emplace_back([&] {
      FakeAdmin admin(address(), false);  // or its last apply would wait for a controller that comes no more
      for (int n = 0; !killed_now; ++n) {
        const auto applied = admin.Apply(SiteYaml(1000 + 100 * round + n % 50));
        if (!applied.status.ok()) {  // it does not listen yet, or any more
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          continue;
        }
        std::lock_guard lock(mutex);
        generation = std::max(generation, applied.last().generation());
      }
    });
    const int enough = 20 + 13 * round;
    if (Eventually([&] { return acknowledgements >= enough; })) ++killed;
    EXPECT_EQ(program->Kill(SIGKILL), -SIGKILL);
    killed_now = true;
    for (auto& thread : threads) thread.join();

    const auto again = Serve();
    FakeAdmin admin(address());
    EXPECT_GE(admin.Status().generation(), generation);
    for (const auto& [node, change] : acknowledged) {
      FakeAgent agent(agents_, node, std::chrono::seconds(30), Joined(node));
      ASSERT_TRUE(agent.Hello());
      EXPECT_GE(agent.Await(Body::kWelcome).welcome().stored_change(), change) << node;
    }
    EXPECT_EQ(again->Kill(SIGTERM), 0);
  }
  EXPECT_EQ(killed, 5);
}

}  // namespace
}  // namespace railwright
