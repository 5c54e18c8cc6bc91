// rw_sim: runs seeds and tells what came of them. tests/sim/run.sh calls it.
//   rw_sim [--from S] [--seeds N] [--first] | --seed N [--trace]
//   --first  ends with the first seed that fails
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/sim/world.h"

int main(int argc, char** argv) {
  using namespace railwright::sim;
  spdlog::set_level(spdlog::level::off);
  std::uint64_t from = 1, count = 100;
  bool trace = false, first = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::strtoull(argv[++i], nullptr, 10) : 0; };
    if (option == "--from") {
      from = number();
    } else if (option == "--seeds") {
      count = number();
    } else if (option == "--seed") {
      from = number();
      count = 1;
    } else if (option == "--first") {
      first = true;
    } else if (option == "--trace") {
      trace = true;
    } else {
      std::fprintf(stderr, "usage: rw_sim [--from S] [--seeds N] [--first] | --seed N [--trace]\n");
      return 64;
    }
  }
  const auto start = std::chrono::steady_clock::now();
  FaultCounts faults;
  std::uint64_t steps = 0, orders = 0, failed = 0;
  double node_years = 0;
  std::uint64_t done = 0;
  for (std::uint64_t seed = from; seed < from + count && !(first && failed > 0); ++seed, ++done) {
    const Outcome outcome = World({seed, trace}).Run();
    faults.Add(outcome.faults);
    steps += outcome.steps;
    orders += outcome.orders;
    node_years +=
        static_cast<double>(outcome.time.count()) / 1e9 / 31'557'600 * static_cast<double>(outcome.nodes);
    if (outcome.ok) continue;
    ++failed;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), outcome.broken.c_str());
    if (count == 1)
      for (const std::string& line : outcome.trace) std::printf("  %s\n", line.c_str());
    std::fflush(stdout);
  }
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf(
      "%llu seeds from %llu in %.1f s (%.1f seeds/s): %llu failed; %.4f node-years, %llu steps, %llu orders, "
      "%llu faults\n",
      static_cast<unsigned long long>(done), static_cast<unsigned long long>(from), took,
      static_cast<double>(done) / took, static_cast<unsigned long long>(failed), node_years,
      static_cast<unsigned long long>(steps), static_cast<unsigned long long>(orders),
      static_cast<unsigned long long>(faults.All()));
  for (std::size_t i = 0; i < static_cast<std::size_t>(Fault::kCount); ++i)
    std::printf("  %-24s %llu\n", std::string(Name(static_cast<Fault>(i))).c_str(),
                static_cast<unsigned long long>(faults.Of(static_cast<Fault>(i))));
  return failed == 0 ? 0 : 1;
}
