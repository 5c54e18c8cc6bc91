#include "controller/store/record.h"
#include "railwright/unix_time.h"

#include <openssl/evp.h>

#include <algorithm>

namespace railwright {
namespace {

constexpr std::uint64_t kFormat = 1;
constexpr std::uint64_t kFormatWithTry = 2;  // of restores

std::string Sha256(std::string_view first, std::string_view second) {
  std::string digest(32, '\0');
  unsigned length = 0;
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_DigestInit_ex(context, EVP_sha256(), nullptr);
  EVP_DigestUpdate(context, first.data(), first.size());
  EVP_DigestUpdate(context, second.data(), second.size());
  EVP_DigestFinal_ex(context, reinterpret_cast<unsigned char*>(digest.data()), &length);
  EVP_MD_CTX_free(context);
  return digest;
}

/// A stored number as an enum whose last member is `last`; anything else is damage.
template <class E>
bool ReadEnum(RecordReader& in, E last, E& value) {
  const std::uint64_t number = in.Number();
  if (number > static_cast<std::uint64_t>(last)) return false;
  value = static_cast<E>(number);
  return true;
}

}  // namespace

RecordWriter& RecordWriter::Number(std::uint64_t value) {
  while (value >= 0x80) {
    bytes_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes_.push_back(static_cast<char>(value));
  return *this;
}

RecordWriter& RecordWriter::Text(std::string_view value) {
  Number(value.size());
  bytes_.append(value);
  return *this;
}

std::uint64_t RecordReader::Number() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  ok_ = false;
  rest_ = {};
  return 0;
}

std::string RecordReader::Text() {
  const std::uint64_t size = Number();
  if (size > rest_.size()) {
    ok_ = false;
    rest_ = {};
    return {};
  }
  std::string text(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return text;
}

std::size_t RecordReader::Count() {
  const std::uint64_t count = Number();
  if (count <= rest_.size()) return count;
  ok_ = false;
  rest_ = {};
  return 0;
}

std::string RowDigest(std::string_view table, std::string_view record) {
  std::string prefix(table);
  prefix.push_back('\0');
  return Sha256(prefix, record);
}

std::string TextDigest(std::string_view text) { return Sha256(text, {}); }

std::string EncodeFindings(const std::vector<Finding>& findings) {
  RecordWriter out;
  out.Number(kFormat).Number(findings.size());
  for (const Finding& f : findings) {
    out.Text(f.code).Text(f.key).Text(f.target).Text(f.desired).Text(f.observed);
    out.Number(static_cast<std::uint64_t>(f.verdict)).Text(f.reason).Text(f.message).Text(f.fix);
    out.Number(f.evidence.size());
    for (const std::string& line : f.evidence) out.Text(line);
    out.Number(static_cast<std::uint64_t>(f.mode)).Text(f.origin.document).Text(f.origin.place);
  }
  return out.bytes();
}

bool DecodeFindings(std::string_view bytes, std::vector<Finding>& findings) {
  RecordReader in(bytes);
  if (in.Number() != kFormat) return false;
  findings.clear();
  findings.resize(in.Count());
  for (Finding& f : findings) {
    f.code = in.Text();
    f.key = in.Text();
    f.target = in.Text();
    f.desired = in.Text();
    f.observed = in.Text();
    if (!ReadEnum(in, Verdict::kNotApplicable, f.verdict)) return false;
    f.reason = in.Text();
    f.message = in.Text();
    f.fix = in.Text();
    f.evidence.resize(in.Count());
    for (std::string& line : f.evidence) line = in.Text();
    if (!ReadEnum(in, Mode::kEnforce, f.mode)) return false;
    f.origin.document = in.Text();
    f.origin.place = in.Text();
    if (!in.ok()) return false;
  }
  return in.Done();
}

std::string EncodeChange(const ChangeRecord& c) {
  RecordWriter out;
  out.Number(kFormat).Number(c.sequence).Number(static_cast<std::uint64_t>(c.kind));
  out.Text(c.key).Text(c.target).Text(c.from).Text(c.to).Text(c.by).Text(c.noticed);
  out.Number(c.ok ? 1 : 0).Text(c.message).Number(c.generation.value);
  out.Signed(ToUnixMicros(c.at)).Signed(c.took.count());
  return out.bytes();
}

bool DecodeChange(std::string_view bytes, ChangeRecord& c) {
  RecordReader in(bytes);
  if (in.Number() != kFormat) return false;
  c.sequence = in.Number();
  if (!ReadEnum(in, ChangeKind::kContended, c.kind)) return false;
  c.key = in.Text();
  c.target = in.Text();
  c.from = in.Text();
  c.to = in.Text();
  c.by = in.Text();
  c.noticed = in.Text();
  c.ok = in.Number() != 0;
  c.message = in.Text();
  c.generation.value = in.Number();
  const auto at = FromUnixMicros(in.Signed());
  if (!at) return false;
  c.at = *at;
  c.took = std::chrono::microseconds(in.Signed());
  return in.Done();
}

std::string EncodeRestores(const std::vector<std::pair<std::string, KeyTarget>>& restores,
                           std::uint64_t try_ms) {
  RecordWriter out;
  out.Number(try_ms == 0 ? kFormat : kFormatWithTry).Number(restores.size());
  for (const auto& [node, what] : restores) out.Text(node).Text(what.key).Text(what.target);
  if (try_ms != 0) out.Number(try_ms);
  return out.bytes();
}

bool DecodeRestores(std::string_view bytes, std::vector<std::pair<std::string, KeyTarget>>& restores,
                    std::uint64_t* try_ms) {
  RecordReader in(bytes);
  const std::uint64_t format = in.Number();
  if (format != kFormat && format != kFormatWithTry) return false;
  restores.clear();
  restores.resize(in.Count());
  for (auto& [node, what] : restores) {
    node = in.Text();
    what.key = in.Text();
    what.target = in.Text();
  }
  const std::uint64_t tried = format == kFormatWithTry ? in.Number() : 0;
  if (try_ms != nullptr) *try_ms = tried;
  return in.Done();
}

}  // namespace railwright
