// A log of rows made from the input, chained, and one byte of one row changed: the row is found.
#include <algorithm>
#include <vector>

#include "core/audit/chain.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

namespace {

std::string* TextOf(audit::Row& row, int which) {
  std::string* const texts[] = {&row.who,     &row.from,   &row.serial, &row.action,
                                &row.subject, &row.detail, &row.outcome};
  return texts[which % 7];
}

/// As much of `rest` as its first byte says.
std::string Taken(std::string_view& rest) {
  if (rest.empty()) return {};
  const std::size_t size = std::min<std::size_t>(static_cast<unsigned char>(rest[0]), rest.size() - 1);
  std::string text(rest.substr(1, size));
  rest.remove_prefix(1 + size);
  return text;
}

/// The first row that is wrong; 0: none.
std::uint64_t FirstFault(const std::vector<audit::Row>& rows, const std::vector<std::string>& hashes,
                         const audit::Head& head) {
  auto check = audit::ChainCheck::Begin();
  ALWAYS(check.ok(), "SHA-256");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto fits = check->Take(rows[i], hashes[i]);
    ALWAYS(fits.ok(), "SHA-256");
    if (!*fits) break;
  }
  (void)check->Finish(head);
  return check->fault() ? check->fault()->id : 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::size_t count = 1 + input.Byte() % 8;
  const std::size_t at = input.Byte() % count;
  const int which = input.Byte();
  const std::size_t place = input.Byte();
  const auto change = static_cast<char>(1 + input.Byte() % 255);
  std::string_view rest = input.Rest();
  (void)audit::Head::Parse(rest);  // any text; never crashes

  std::vector<audit::Row> rows(count);
  std::vector<std::string> hashes;
  audit::Head head{0, *audit::Genesis()};
  for (audit::Row& row : rows) {
    row.id = head.id + 1;
    row.at_us = static_cast<std::int64_t>(rest.size());
    for (int text = 0; text < 7; ++text) *TextOf(row, text) = Taken(rest);
    const auto hash = audit::Next(head.hash, row);
    ALWAYS(hash.ok(), "SHA-256");
    head = {row.id, *hash};
    hashes.emplace_back(identity::Bytes(*hash));
  }
  ALWAYS(FirstFault(rows, hashes, head) == 0, input.Rest());
  const auto read = audit::Head::Parse(head.Text());
  ALWAYS(read.ok() && *read == head, head.Text());

  // Hashes that are any bytes, with rows that are any rows: a verdict, and no crash.
  std::vector<std::string> others(hashes.size(), std::string(input.Rest().substr(0, 32)));
  ALWAYS(FirstFault(rows, others, head) == 1, input.Rest());

  const std::uint64_t changed = at + 1;
  std::vector<audit::Row> bad = rows;
  if (which == 7) {
    bad[at].at_us ^= change;
  } else {
    std::string& text = *TextOf(bad[at], which);
    if (text.empty())
      text.push_back(change);
    else
      text[place % text.size()] = static_cast<char>(text[place % text.size()] ^ change);
  }
  ALWAYS(FirstFault(bad, hashes, head) == changed, input.Rest());
  // A byte that moves from one text to its neighbour.
  bad = rows;
  const int left = which % 6;
  if (!TextOf(bad[at], left)->empty()) {
    std::string& next = *TextOf(bad[at], left + 1);
    next.insert(next.begin(), TextOf(bad[at], left)->back());
    TextOf(bad[at], left)->pop_back();
    ALWAYS(FirstFault(bad, hashes, head) == changed, input.Rest());
  }
  std::vector<std::string> bad_hashes = hashes;
  bad_hashes[at][place % 32] = static_cast<char>(bad_hashes[at][place % 32] ^ change);
  ALWAYS(FirstFault(rows, bad_hashes, head) == changed, input.Rest());
  // A row that is gone.
  bad = rows;
  bad_hashes = hashes;
  bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(at));
  bad_hashes.erase(bad_hashes.begin() + static_cast<std::ptrdiff_t>(at));
  ALWAYS(FirstFault(bad, bad_hashes, head) == changed, input.Rest());
  return 0;
}
