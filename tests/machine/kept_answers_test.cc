#include "agent/machine/kept_answers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>

#include "agent/tools/allow_list.h"
#include "agent/tools/tools.h"
#include "tests/machine/temporary_directory.h"

namespace railwright::machine {
namespace {

using namespace std::chrono_literals;
using Answers = KeptAnswers<std::string>;

/// Asked, it counts, and answers when it is let.
struct Card {
  Answers::Ask Ask() {
    return [this]() -> Result<std::string> {
      std::unique_lock lock(mutex);
      ++asked;
      let.wait(lock, [this] { return open; });
      return answer;
    };
  }
  void Let() {
    std::lock_guard lock(mutex);
    open = true;
    let.notify_all();
  }
  std::mutex mutex;
  std::condition_variable let;
  bool open = false;
  std::atomic<int> asked = 0;
  Result<std::string> answer = std::string("one");
};

std::string Said(const Result<const std::string*>& answer) {
  return answer.ok() ? **answer : std::string(Name(answer.status().code()));
}

// What is awaited comes from another thread.
std::string Finally(Answers& answers, Card& card) {
  for (int look = 0; look < 5000; ++look) {
    const std::string said = Said(answers.Of("card", "1", card.Ask()));
    if (said != Name(Code::kUnavailable)) return said;
    std::this_thread::sleep_for(1ms);
  }
  return "never";
}

TEST(KeptAnswersTest, WithoutAThreadTheCallerWaitsAndTheAnswerIsKept) {
  Answers answers(1h, 1h, nullptr);
  Card card;
  card.open = true;
  EXPECT_EQ(Said(answers.Of("card", "1", card.Ask())), "one");
  EXPECT_EQ(Said(answers.Of("card", "1", card.Ask())), "one");
  EXPECT_EQ(card.asked, 1);
  EXPECT_EQ(Said(answers.Of("card", "2", card.Ask())), "one");
  EXPECT_EQ(card.asked, 2) << "another card in the same place";
}

TEST(KeptAnswersTest, WithAThreadNobodyWaitsForTheFirstAnswer) {
  Card card;
  AskingThread thread;
  Answers answers(1h, 1h, &thread);
  EXPECT_EQ(Said(answers.Of("card", "1", card.Ask())), Name(Code::kUnavailable));
  EXPECT_EQ(Said(answers.Of("card", "1", card.Ask())), Name(Code::kUnavailable));
  card.Let();
  EXPECT_EQ(Finally(answers, card), "one");
  EXPECT_EQ(card.asked, 1);
}

TEST(KeptAnswersTest, AnOldAnswerIsGivenWhileTheNextIsAwaited) {
  Card card;
  card.open = true;
  AskingThread thread;
  Answers answers(0s, 0s, &thread);
  ASSERT_EQ(Finally(answers, card), "one");
  {
    std::lock_guard lock(card.mutex);
    card.open = false;
    card.answer = std::string("two");
  }
  EXPECT_EQ(Said(answers.Of("card", "1", card.Ask())), "one");
  EXPECT_EQ(Said(answers.Of("card", "1", card.Ask())), "one");
  card.Let();
  std::string said;
  for (int look = 0; look < 5000 && said != "two"; ++look) {
    said = Said(answers.Of("card", "1", card.Ask()));
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(said, "two");
}

TEST(KeptAnswersTest, AfterAWriteTheCallerWaitsForWhatIsThereNow) {
  Card card;
  card.open = true;
  AskingThread thread;
  Answers answers(1h, 1h, &thread);
  ASSERT_EQ(Finally(answers, card), "one");
  card.answer = std::string("two");
  answers.Expect("card");
  EXPECT_EQ(Said(answers.Of("card", "1", card.Ask())), "two");
}

TEST(KeptAnswersTest, AFailureIsKeptToo) {
  Answers answers(1h, 1h, nullptr);
  Card card;
  card.open = true;
  card.answer = Status(Code::kInternal, "no");
  EXPECT_EQ(Said(answers.Of("card", "1", card.Ask())), Name(Code::kInternal));
  EXPECT_EQ(Said(answers.Of("card", "1", card.Ask())), Name(Code::kInternal));
  EXPECT_EQ(card.asked, 1);
  answers.Forget("card");
  EXPECT_EQ(Said(answers.Of("card", "1", card.Ask())), Name(Code::kInternal));
  EXPECT_EQ(card.asked, 2);
}

TEST(AskingThreadTest, WhatHasNotBegunWhenItEndsNeverRuns) {
  std::atomic<int> ran = 0;
  std::promise<void> begun, end;
  {
    AskingThread thread;
    thread.Post([&] {
      ++ran;
      begun.set_value();
      end.get_future().wait();
    });
    thread.Post([&] { ran += 100; });
    begun.get_future().wait();
    // The destructor drops the second before it waits for the first.
    std::thread releaser([&] {
      std::this_thread::sleep_for(50ms);
      end.set_value();
    });
    releaser.detach();
  }
  EXPECT_EQ(ran, 1);
}

TEST(AskingThreadTest, AProgramThatRunsIsAskedToEnd) {
  const TemporaryDirectory root;
  const std::string program = root.path() + "/slow";
  root.Write("/slow", "#!/bin/sh\nexec sleep 30\n");
  ::chmod(program.c_str(), 0755);
  AllowInTests(program);
  const auto start = std::chrono::steady_clock::now();
  const auto spawned = ProgramsSpawned();
  std::promise<int> ended;
  {
    AskingThread thread;
    thread.Post([&] {
      const auto result = RunTool({program}, {}, 60s);
      ended.set_value(result.ok() ? result->exit_code : -1);
    });
    while (ProgramsSpawned() == spawned) std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(ended.get_future().get(), 128 + SIGTERM);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
}

}  // namespace
}  // namespace railwright::machine
