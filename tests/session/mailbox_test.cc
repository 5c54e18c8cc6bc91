#include "railwright/mailbox.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace railwright {
namespace {

using Texts = std::deque<std::string>;

QueueBound<std::string> Bound(std::size_t values, std::size_t bytes) {
  return {values, bytes, [](const std::string& text) { return text.size(); }};
}
bool BeginsWithS(const std::string& text) { return text.starts_with("s"); }

TEST(QueueTest, WithoutABoundEverythingIsTaken) {
  Queue<int> queue;
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(queue.Post(i));
  EXPECT_EQ(queue.TakeAll().size(), 10'000U);
}

TEST(QueueTest, BeyondItsBoundNothingIsTakenUntilTheReaderCame) {
  Queue<std::string> queue({}, Bound(3, 10));
  EXPECT_TRUE(queue.Post("four"));
  EXPECT_TRUE(queue.Post("five5"));
  EXPECT_FALSE(queue.Post("66")) << "11 bytes";
  EXPECT_TRUE(queue.Post("7"));
  EXPECT_FALSE(queue.Post("")) << "a fourth";
  EXPECT_EQ(queue.TakeAll(), (Texts{"four", "five5", "7"}));
  EXPECT_TRUE(queue.Post("0123456789"));
  EXPECT_FALSE(queue.Post("x"));
}

TEST(QueueTest, AValueAboveTheWholeBoundIsNeverTaken) {
  Queue<std::string> queue({}, Bound(3, 10));
  EXPECT_FALSE(queue.Post("01234567890"));
}

TEST(QueueTest, TheNewestTakesThePlaceOfTheOlderAndItsRoom) {
  Queue<std::string> queue({}, Bound(3, 10));
  EXPECT_TRUE(queue.Post("s1"));
  EXPECT_TRUE(queue.Post("c1"));
  EXPECT_TRUE(queue.PostNewest("s222", BeginsWithS));
  EXPECT_TRUE(queue.Post("c222")) << "4 + 2 + 4 bytes";
  EXPECT_FALSE(queue.Post("x"));
  EXPECT_EQ(queue.TakeAll(), (Texts{"s222", "c1", "c222"}));
}

TEST(QueueTest, TheNewestIsTakenThoughTheQueueIsFullAndOnlyOneOfItWaits) {
  Queue<std::string> queue({}, Bound(2, 4));
  EXPECT_TRUE(queue.Post("c1"));
  EXPECT_TRUE(queue.Post("c2"));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(queue.PostNewest("state " + std::to_string(i), BeginsWithS));
  EXPECT_FALSE(queue.Post("c3"));
  EXPECT_EQ(queue.TakeAll(), (Texts{"c1", "c2", "state 99"}));
}

TEST(QueueTest, AClosedQueueTakesNothingAndWakesItsReader) {
  Queue<std::string> queue;
  std::thread reader([&] { EXPECT_TRUE(queue.WaitAll().empty()); });
  queue.Close();
  reader.join();
  EXPECT_FALSE(queue.Post("x"));
  EXPECT_FALSE(queue.PostNewest("s", BeginsWithS));
}

}  // namespace
}  // namespace railwright
