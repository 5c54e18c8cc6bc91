#include "core/identity/floor.h"

#include <algorithm>
#include <charconv>

namespace railwright::identity {
namespace {

Status No(const std::string& why) {
  return Status(Code::kFailedPrecondition, "the signed state is refused: " + why);
}

Status Damaged(std::size_t line, std::string_view why) {
  return Status(Code::kDataLoss, "the floor of generations is damaged: line " + std::to_string(line) + ": " +
                                     std::string(why));
}

}  // namespace

Result<Floor::Next> Floor::Judge(const OpenedEnvelope& opened, const TrustedSigners& trusted) const {
  const Statement& said = opened.statement;
  const Mark* top = nullptr;
  for (const auto& [line, mark] : marks_)
    if (trusted.Counts(line) && (top == nullptr || mark.generation > top->generation)) top = &mark;
  if (top == nullptr) return Next::kNew;
  const std::string is = "generation " + std::to_string(said.generation);
  if (said.generation < top->generation)
    return No(is + " is older than " + std::to_string(top->generation) + ", which was accepted");
  if (said.generation == top->generation) {
    if (opened.digest == top->digest) return Next::kSame;
    return No(is + " was accepted as " + Hex(top->digest) +
              ", this is another state of the same number: " + Hex(opened.digest));
  }
  if (said.generation == top->generation + 1 && said.previous != top->digest)
    return No(is + " follows " + Hex(said.previous) + ", and what was accepted before it is " +
              Hex(top->digest));
  return Next::kNew;
}

void Floor::Raise(const OpenedEnvelope& opened) {
  Mark& mark = marks_[opened.statement.line];
  if (opened.statement.generation > mark.generation) mark = {opened.statement.generation, opened.digest};
}

std::size_t Floor::ForgetUntrusted(const TrustedSigners& trusted) {
  return std::erase_if(marks_, [&](const auto& one) { return !trusted.Counts(one.first); });
}

std::string Floor::Text() const {
  std::string text;
  for (const auto& [line, mark] : marks_)
    text += line.Text() + " " + std::to_string(mark.generation) + " " + Hex(mark.digest) + "\n";
  return text;
}

Result<Floor> Floor::Parse(std::string_view text) {
  Floor floor;
  for (std::size_t number = 1; !text.empty(); ++number) {
    if (number > kMostLines) return Damaged(number, "more lines than keys can be");
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return Damaged(number, "it is cut short");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const std::size_t first = line.find(' '), last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) return Damaged(number, "not three words");
    const auto pin = Pin::Parse(line.substr(0, first));
    const auto digest = ParseDigest(line.substr(last + 1));
    const std::string_view digits = line.substr(first + 1, last - first - 1);
    std::uint64_t generation = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), generation);
    if (!pin.ok() || !digest.ok() || error != std::errc() || stop != digits.data() + digits.size() ||
        generation == 0 || digits.front() == '0')
      return Damaged(number, "not a pin, a generation and a digest");
    if (!floor.marks_.empty() && floor.marks_.rbegin()->first >= *pin)
      return Damaged(number, "its pin is not above the one before");
    floor.marks_.emplace(*pin, Mark{generation, *digest});
  }
  return floor;
}

}  // namespace railwright::identity
