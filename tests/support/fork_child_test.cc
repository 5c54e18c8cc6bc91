#include "tests/support/fork_child.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace railwright {
namespace {

TEST(ForkChildTest, AChildDiesWithTheTestThatIsKilled) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // the orphan becomes ours, so that its end is seen
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t test = fork();
  ASSERT_GE(test, 0);
  if (test == 0) {
    const pid_t child = ForkChild();
    if (child == 0) {
      alarm(30);  // or a failure would hang
      const char ready = 'x';
      (void)!write(ends[1], &ready, 1);
      while (true) pause();
    }
    while (true) pause();
  }
  char ready = 0;
  ASSERT_EQ(read(ends[0], &ready, 1), 1);
  ASSERT_EQ(kill(test, SIGKILL), 0);
  ASSERT_EQ(waitpid(test, nullptr, 0), test);
  int status = 0;
  ASSERT_GT(waitpid(-1, &status, 0), 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace railwright
