// Tables for the pure parts: judge, plan, trace, text, backoff, contention.
#include "agent/reconcile/backoff.h"
#include "agent/reconcile/contention.h"
#include "agent/reconcile/diff.h"
#include "agent/reconcile/observe.h"
#include "agent/reconcile/plan.h"
#include "agent/reconcile/text.h"
#include "railwright/explain.h"
#include "tests/reconcile/node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

// One wish of one state, bound to the fake node and looked at.
struct Seen {
  NodeFacts facts;
  Wish wish;
  Sight sight;
};
std::unique_ptr<Seen> LookAt(Node& node, const DesiredState& state) {
  auto seen = std::make_unique<Seen>();
  seen->facts = BindPorts(node.machine, state);
  seen->wish = MakeWishes(state, node.catalog, node.journal.Originals()).at(0);
  BindWish(seen->wish, seen->facts);
  Look(node.machine, seen->wish, seen->sight);
  return seen;
}

struct JudgeCase {
  const char* name;
  const char* key;
  const char* target;
  const char* desired;
  const char* there;  // what the path reads; "-" = removed, "!" = EIO
  const char* path;
  Verdict verdict;
  const char* reason;
  bool step;
};
void PrintTo(const JudgeCase& one, std::ostream* out) { *out << one.name; }
class JudgeTest : public testing::TestWithParam<JudgeCase> {};

TEST_P(JudgeTest, VerdictReasonAndStep) {
  const JudgeCase& one = GetParam();
  Node node;
  node.machine.Put(one.path, one.there);
  if (std::string_view(one.there) == "-") node.machine.Remove(one.path);
  if (std::string_view(one.there) == "!") node.machine.FailReads(one.path, FromErrno(EIO, one.path));
  const auto seen = LookAt(node, Node::State(1).Enforce(one.key, one.target, one.desired));
  Finding finding = Judge(seen->wish, seen->sight);
  const auto step = MakeStep(seen->wish, seen->sight, {});
  EXPECT_EQ(step.has_value(), one.step);
  if (step) Annotate(finding, *step);
  EXPECT_EQ(finding.verdict, one.verdict);
  EXPECT_EQ(finding.reason, one.reason);
  EXPECT_FALSE(finding.message.empty());
  EXPECT_EQ(finding.fix.empty(),
            one.verdict == Verdict::kCompliant || one.verdict == Verdict::kNotApplicable);
  // Every reason of the loop has its page.
  if (!finding.reason.empty() && finding.verdict != Verdict::kNotApplicable) {
    const auto pages = ReasonPages();
    EXPECT_TRUE(std::any_of(pages.begin(), pages.end(), [&](const ReasonPage& page) {
      return page.word == finding.reason;
    })) << finding.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, JudgeTest,
    testing::Values(
        JudgeCase{"Equal", "sysctl.a", "", "1", "1", "/proc/sys/a", Verdict::kCompliant, "", false},
        JudgeCase{"EqualInOtherSpelling", "sysctl.a", "", "01", "1", "/proc/sys/a", Verdict::kCompliant, "",
                  false},
        JudgeCase{"Differs", "sysctl.a", "", "1", "0", "/proc/sys/a", Verdict::kDrifted, "Differs", true},
        JudgeCase{"NotThere", "sysctl.a", "", "1", "-", "/proc/sys/a", Verdict::kUnknown, "ReadFailed",
                  false},
        JudgeCase{"ReadError", "sysctl.a", "", "1", "!", "/proc/sys/a", Verdict::kUnknown, "ReadFailed",
                  false},
        JudgeCase{"AbsentWanted", "file.etc/x", "", "", "-", "/file/etc/x", Verdict::kCompliant, "", false},
        JudgeCase{"AbsentUnwanted", "file.etc/x", "", "t", "-", "/file/etc/x", Verdict::kDrifted, "Differs",
                  true},
        JudgeCase{"PresentUnwanted", "file.etc/x", "", "", "t", "/file/etc/x", Verdict::kDrifted, "Differs",
                  true},
        JudgeCase{"DoesNotApply", "sysctl.a", "", "1", "unsupported", "/proc/sys/a", Verdict::kNotApplicable,
                  "NoSuchKnob", false},
        JudgeCase{"NoSuchPort", "link.mtu", "rail0", "1", "-", "/rtnl/link/rail0", Verdict::kUnknown,
                  "PortNotFound", false},
        JudgeCase{"NoAddress", "rail.address", "rail1", "declared", "", "/rtnl/addr/rail1", Verdict::kUnknown,
                  "InvalidValue", false},
        JudgeCase{"Flap", "link.speed", "rail0", "400", "100", "/ethtool/rail0/speed", Verdict::kPending,
                  "ApprovalNeeded", true},
        JudgeCase{"Boot", "kernel.cmdline", "", "iommu=pt", "quiet", "/proc/cmdline", Verdict::kPending,
                  "NeedsReboot", true},
        JudgeCase{"ReadOnly", "link.rings", "rail0", "1", "2", "/ethtool/rail0/rings", Verdict::kDrifted,
                  "ObserveOnly", true}),
    [](const auto& one) { return one.param.name; });

TEST(JudgeTest, TellsWhatWasSeenWhereAndWhatWasDeclaredBywhom) {
  Node node;
  const auto seen = LookAt(node, Node::State(1).Enforce("link.mtu", "rail0", "4200"));
  const Finding finding = Judge(seen->wish, seen->sight);
  EXPECT_EQ(finding.message, "link.mtu on rail0 is 1500; Profile/test (test.yaml:1:3) declares 4200");
  EXPECT_EQ(finding.desired, "4200");
  EXPECT_EQ(finding.observed, "1500");
  EXPECT_EQ(finding.origin.place, "test.yaml:1:3");
}

TEST(JudgeTest, AValueSetForTheNextBootIsPendingAndNoStep) {
  Node node;
  auto seen = LookAt(node, Node::State(1).Enforce("sysctl.a", "", "1"));
  seen->sight.observation.pending_reboot = true;
  EXPECT_EQ(Judge(seen->wish, seen->sight).verdict, Verdict::kPending);
  EXPECT_EQ(Judge(seen->wish, seen->sight).reason, "NeedsReboot");
  EXPECT_FALSE(MakeStep(seen->wish, seen->sight, {}));
}

TEST(JudgeTest, AWishThatWasNotLookedAtIsUnknown) {
  Node node;
  auto seen = LookAt(node, Node::State(1).Enforce("sysctl.a", "", "1"));
  EXPECT_EQ(Judge(seen->wish, Sight()).reason, "NotObserved");
}

TEST(JudgeTest, ARestoreWithoutAKnownOriginalIsUnknown) {
  Node node;
  ASSERT_TRUE(node.journal.RecordOriginal({"sysctl.a", "", Original::Kind::kUnknown, ""}).ok());
  const auto seen = LookAt(node, Node::State(1).Restore("sysctl.a", ""));
  EXPECT_EQ(Judge(seen->wish, seen->sight).reason, "OriginalUnknown");
  EXPECT_FALSE(MakeStep(seen->wish, seen->sight, {}));
}

TEST(PlanTest, TheFirstRefusalInTheDocumentedOrderIsTold) {
  Node node;
  Policy policy;
  policy.management = {"rail0"};
  policy.pauses = {{"", "", "ada", ""}};
  const auto reason = [&](const DesiredState& state) {
    const auto seen = LookAt(node, state);
    return MakeStep(seen->wish, seen->sight, policy)->refused;
  };
  EXPECT_EQ(reason(Node::State(1).Observe("link.mtu", "nvme", "1")), "NotFabricPort");
  EXPECT_EQ(reason(Node::State(1).Observe("link.rings", "rail0", "1")), "ManagementPath");
  EXPECT_EQ(reason(Node::State(1).Observe("link.rings", "rail1", "1")), "ObserveOnly");
  EXPECT_EQ(reason(Node::State(1).Observe("kernel.cmdline", "", "x")), "NeedsReboot");
  EXPECT_EQ(reason(Node::State(1).Observe("link.speed", "rail1", "1")), "ObserveMode");
  EXPECT_EQ(reason(Node::State(1).Enforce("link.speed", "rail1", "1")), "Paused");
  policy.pauses.clear();
  EXPECT_EQ(reason(Node::State(1).Enforce("link.speed", "rail1", "1")), "ApprovalNeeded");
  policy.max_disruption = Disruption::kLinkFlap;
  EXPECT_EQ(reason(Node::State(1).Enforce("link.speed", "rail1", "1")), "");
}

TEST(TraceTest, RelationGoesByPathComponents) {
  EXPECT_TRUE(Related("/rtnl/link/rail0", "/rtnl/link/rail0/mtu"));
  EXPECT_TRUE(Related("/rtnl/link/rail0/mtu", "/rtnl/link/rail0"));
  EXPECT_TRUE(Related("/a", "/a"));
  EXPECT_TRUE(Related("", "/a"));
  EXPECT_TRUE(Related("/rtnl/", "/rtnl/route"));
  EXPECT_FALSE(Related("/rtnl/link/rail1", "/rtnl/link/rail10"));
  EXPECT_FALSE(Related("/a/b", "/a/c"));
}

TEST(TraceTest, VersionMovesOnlyWhenAnAnswerOrAPathDiffers) {
  FakeMachine machine;
  machine.Put("/a", "1").Put("/d/x", "").Put("/d/y", "");
  Trace trace;
  const auto look = [&](const Lines& paths) {
    const TracingMachine through(machine, trace);
    for (const std::string& path : paths) {
      if (path.starts_with("/d"))
        (void)through.List(path);
      else
        (void)through.Get(path);
    }
  };
  look({"/a", "/d", "/gone"});
  EXPECT_EQ(trace.version(), 1u);
  look({"/a", "/d", "/gone"});
  EXPECT_EQ(trace.version(), 1u);
  machine.Put("/d/z", "");
  look({"/a", "/d", "/gone"});
  EXPECT_EQ(trace.version(), 2u);
  machine.Put("/gone", "");  // from an error to an empty value
  look({"/a", "/d", "/gone"});
  EXPECT_EQ(trace.version(), 3u);
  look({"/a", "/d"});
  EXPECT_EQ(trace.version(), 4u);
  look({"/d", "/a"});
  EXPECT_EQ(trace.version(), 5u);
  EXPECT_EQ(trace.Evidence(), (Lines{"/d = [x y z]", "/a = 1"}));
}

TEST(TraceTest, LookingCannotWrite) {
  FakeMachine machine;
  machine.Put("/a", "1");
  Trace trace;
  TracingMachine through(machine, trace);
  EXPECT_FALSE(through.Set("/a", "2").ok());
  EXPECT_EQ(machine.Value("/a"), "1");
}

TEST(TextTest, IsShortCleanAndOnOneLine) {
  EXPECT_EQ(OneLine("a\nb\tc"), "a; b c");
  EXPECT_EQ(OneLine("a\nb\n"), "a; b");
  EXPECT_EQ(Shown("a\nb"), "a\nb");
  EXPECT_EQ(OneLine("\x1b[31mred\x7f"), "\\x1b[31mred\\x7f");
  EXPECT_EQ(OneLine("gr\xc3\xbc\xc3\x9f\xe2\x82\xac\xf0\x9f\x98\x80"),
            "gr\xc3\xbc\xc3\x9f\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(OneLine("\xc0\xaf\xed\xa0\x80\xff"), "\\xc0\\xaf\\xed\\xa0\\x80\\xff")
      << "overlong, surrogate, never valid";
  EXPECT_EQ(OneLine("\xe2\x82"), "\\xe2\\x82") << "cut in the middle of a character";
  EXPECT_EQ(OneLine(std::string("a\0b", 3)), "a\\x00b");
  for (std::size_t limit = 4; limit < 40; ++limit) {
    const std::string cut =
        OneLine("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xff\xff\xff", limit);
    EXPECT_LE(cut.size(), limit);
    EXPECT_EQ(OneLine(cut, 1000), cut) << "what is cut is valid still";
  }
  EXPECT_EQ(OneLine(std::string(300, 'x')).size(), 200u);
}

TEST(BackoffTest, TheCodeDecidesTheCure) {
  EXPECT_EQ(CureOf(CodeOf(EBUSY)), Cure::kRetry);
  EXPECT_EQ(CureOf(CodeOf(EAGAIN)), Cure::kRetry);
  EXPECT_EQ(CureOf(CodeOf(ENOSPC)), Cure::kRetry);
  EXPECT_EQ(CureOf(CodeOf(EIO)), Cure::kUndoRetry);
  EXPECT_EQ(CureOf(Code::kFailedPrecondition), Cure::kWait);
  for (const int error : {EINVAL, ERANGE, EPERM, EACCES, EROFS, EOPNOTSUPP, ENOENT, ENODEV, EEXIST})
    EXPECT_EQ(CureOf(CodeOf(error)), Cure::kUndoAndWait) << error;
}

TEST(BackoffTest, NeverLeavesItsBounds) {
  Jitter jitter(1);
  for (int tries = 1; tries < 5000; ++tries) {
    const auto wait = BackoffAfter(tries, jitter);
    EXPECT_GE(wait, 800ms);
    EXPECT_LE(wait, 360s);
  }
}

TEST(BackoffTest, TheBudgetOfPassesRefillsWithTime) {
  SimClock clock;
  PassBudget budget;
  int taken = 0;
  while (budget.Take(clock.Now())) ++taken;
  EXPECT_EQ(taken, 20);
  EXPECT_FALSE(budget.Take(clock.Now()));
  clock.AdvanceTo(budget.Next(clock.Now()));
  EXPECT_TRUE(budget.Take(clock.Now()));
  clock.Advance(1h);
  EXPECT_EQ(budget.Next(clock.Now()), clock.Now());
}

TEST(ContentionTest, TheWindowSlides) {
  SimClock clock;
  Returns returns;
  for (int i = 1; i <= 4; ++i) {
    EXPECT_EQ(returns.Count(clock.Now(), 10s), i);
    clock.Advance(3s);
  }
  EXPECT_EQ(returns.Count(clock.Now(), 10s), 4) << "the first is 12 s ago";
  returns.Clear();
  EXPECT_EQ(returns.Count(clock.Now(), 10s), 1);
}

TEST(ExplainTest, ReasonPagesAreSortedAndUnique) {
  const auto pages = ReasonPages();
  for (std::size_t i = 1; i < pages.size(); ++i) EXPECT_LT(pages[i - 1].word, pages[i].word);
  std::vector<std::string_view> codes;
  for (const ReasonPage& page : pages) codes.push_back(page.code);
  std::sort(codes.begin(), codes.end());
  EXPECT_EQ(std::adjacent_find(codes.begin(), codes.end()), codes.end());
}

}  // namespace
}  // namespace railwright
