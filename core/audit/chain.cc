#include "core/audit/chain.h"

#include <charconv>

namespace railwright::audit {
namespace {

void PutNumber(std::uint64_t value, std::string& out) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
}

std::string Range(std::uint64_t first, std::uint64_t last) {
  return first == last ? "row " + std::to_string(first) + " is missing"
                       : "rows " + std::to_string(first) + " to " + std::to_string(last) + " are missing";
}

}  // namespace

std::string Canonical(const Row& row) {
  std::string bytes;
  PutNumber(row.id, bytes);
  PutNumber(static_cast<std::uint64_t>(row.at_us), bytes);
  for (const std::string* text :
       {&row.who, &row.from, &row.serial, &row.action, &row.subject, &row.detail, &row.outcome}) {
    PutNumber(text->size(), bytes);
    bytes += *text;
  }
  return bytes;
}

Result<Digest> Genesis() { return identity::Sha256("railwright audit chain v1"); }

Result<Digest> Next(const Digest& before, const Row& row) {
  return identity::Sha256(std::string(identity::Bytes(before)) + Canonical(row));
}

Result<Head> Head::Parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view digits = text.substr(0, colon);
  Head head;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), head.id);
  if (colon == std::string_view::npos || error != std::errc() || end != digits.data() + digits.size() ||
      std::to_string(head.id) != digits)
    return Status(Code::kInvalidArgument,
                  "the head of an audit is written ID:HASH, as railctl audit-log verify prints it");
  auto hash = identity::ParseDigest(text.substr(colon + 1));
  if (!hash.ok()) return hash.status().Within("the hash of an audit's head");
  head.hash = *hash;
  return head;
}

std::string Head::Text() const { return std::to_string(id) + ":" + identity::Hex(hash); }

// An id below zero was put in by hand; it is shown as it stands in the table.
std::string Fault::Text() const {
  return "row " + std::to_string(static_cast<std::int64_t>(id)) + ": " + what;
}

Result<ChainCheck> ChainCheck::Begin(std::optional<Head> expected) {
  RW_ASSIGN_OR_RETURN(const Digest genesis, Genesis());
  ChainCheck check({0, genesis}, expected);
  (void)check.FitsExpected();
  return check;
}

bool ChainCheck::Fail(std::uint64_t id, std::string what) {
  if (!fault_) fault_ = Fault{id, std::move(what)};
  return false;
}

bool ChainCheck::FitsExpected() {
  if (!expected_ || expected_->id != head_.id || expected_->hash == head_.hash) return true;
  return Fail(head_.id, "its hash is " + identity::Hex(head_.hash) + ", expected " +
                            identity::Hex(expected_->hash) +
                            ": this row or one before it was changed and the chain made anew");
}

Result<bool> ChainCheck::Take(const Row& row, std::string_view stored_hash) {
  if (fault_) return false;
  const std::uint64_t due = head_.id + 1;
  if (row.id != due) {
    // An id is what the next row says; zero and below can only have been put there.
    if (row.id < due || row.id > static_cast<std::uint64_t>(INT64_MAX))
      return Fail(row.id, "it does not belong there: row " + std::to_string(due) + " is due");
    return Fail(due, Range(due, row.id - 1) + ": row " + std::to_string(row.id) + " comes next");
  }
  RW_ASSIGN_OR_RETURN(const Digest hash, Next(head_.hash, row));
  if (!identity::SameBytes(identity::Bytes(hash), stored_hash))
    return Fail(row.id,
                "its content does not fit its hash and the row before: it was changed, moved or put in");
  head_ = {row.id, hash};
  return FitsExpected();
}

bool ChainCheck::Finish(const std::optional<Head>& kept) {
  if (fault_) return false;
  if (expected_ && expected_->id > head_.id)
    return Fail(head_.id + 1, Range(head_.id + 1, expected_->id) +
                                  ": the end was cut off, or an older store was restored; row " +
                                  std::to_string(expected_->id) + " was expected");
  if (!kept) return Fail(head_.id, "the head that the store keeps is missing or damaged");
  if (kept->id > head_.id) return Fail(head_.id + 1, Range(head_.id + 1, kept->id) + ": the end was cut off");
  if (kept->id < head_.id)
    return Fail(kept->id + 1,
                "the store's head is row " + std::to_string(kept->id) + ": this one was put in");
  if (kept->hash != head_.hash)
    return Fail(head_.id, "its hash is not that of the store's head: the chain was made anew");
  return true;
}

}  // namespace railwright::audit
