#include "agent/journal/record.h"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "agent/journal/try_record.h"
#include "railwright/unix_time.h"

namespace railwright {
namespace {

using nlohmann::json;

}  // namespace

std::string BytesToText(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | (byte >> 6));
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return text;
}

std::optional<std::string> TextToBytes(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      bytes += text[i];
    } else if ((lead == 0xc2 || lead == 0xc3) && i + 1 < text.size()) {
      bytes += static_cast<char>(((lead & 0x03) << 6) | (static_cast<unsigned char>(text[++i]) & 0x3f));
    } else {
      return std::nullopt;  // a character beyond U+00FF: not written by FormatRecord
    }
  }
  return bytes;
}

namespace {

// FNV-1a, 64 bit (draft-eastlake-fnv): finds damage, keeps nobody out.
std::string Checksum(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  char hex[17];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash));
  return hex;
}

Status Damaged(std::string_view what) { return Status(Code::kDataLoss, std::string(what)); }

}  // namespace

std::string_view Name(Original::Kind kind) {
  switch (kind) {
    case Original::Kind::kValue: return "value";
    case Original::Kind::kAbsent: return "absent";
    case Original::Kind::kUnknown: break;
  }
  return "unknown";
}

Result<Original::Kind> ParseKind(const std::string& kind) {
  if (kind == "value") return Original::Kind::kValue;
  if (kind == "absent") return Original::Kind::kAbsent;
  if (kind == "unknown") return Original::Kind::kUnknown;
  return Damaged("unknown kind \"" + kind + "\"");
}

Result<std::string> Member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string())
    return Damaged("no text member \"" + std::string(name) + "\"");
  auto bytes = TextToBytes(found->get_ref<const std::string&>());
  if (!bytes) return Damaged("member \"" + std::string(name) + "\" holds a character beyond U+00FF");
  return *std::move(bytes);
}

namespace {

Result<std::chrono::system_clock::time_point> Time(const std::string& text) {
  std::int64_t micros = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, micros);
  const auto at = error == std::errc() && stop == end ? FromUnixMicros(micros) : std::nullopt;
  if (!at) return Damaged("\"since\" is no time in microseconds since 1970");
  return *at;
}

Result<JournalRecord> FromObject(const json& object) {
  JournalRecord record;
  RW_ASSIGN_OR_RETURN(const std::string op, Member(object, "op"));
  if (op == "prepared") {
    record.op = JournalRecord::Op::kPrepared;
    const auto paths = object.find("paths");
    if (paths == object.end() || !paths->is_array()) return Damaged("no list \"paths\"");
    for (const json& path : *paths) {
      const auto bytes = path.is_string() ? TextToBytes(path.get_ref<const std::string&>()) : std::nullopt;
      if (!bytes) return Damaged("a path that is no text");
      record.prepared.push_back(*bytes);
    }
    return record;
  }
  if (op == "try" || op == "end-try") {
    record.op = op == "try" ? JournalRecord::Op::kTry : JournalRecord::Op::kEndTry;
    if (record.op == JournalRecord::Op::kTry) {
      RW_ASSIGN_OR_RETURN(record.open, TryOf(object));
    }
    return record;
  }
  RW_ASSIGN_OR_RETURN(record.key, Member(object, "key"));
  RW_ASSIGN_OR_RETURN(record.target, Member(object, "target"));
  if (op == "end" || op == "forget" || op == "forget-awaited" || op == "forget-failed-try") {
    record.op = op == "end"              ? JournalRecord::Op::kEnd
                : op == "forget"         ? JournalRecord::Op::kForget
                : op == "forget-awaited" ? JournalRecord::Op::kForgetAwaited
                                         : JournalRecord::Op::kForgetFailedTry;
  } else if (op == "failed-try") {
    record.op = JournalRecord::Op::kFailedTry;
    RW_ASSIGN_OR_RETURN(record.failed, FailedTryOf(object));
  } else if (op == "awaited") {
    record.op = JournalRecord::Op::kAwaited;
    record.awaited.key = record.key;
    record.awaited.target = record.target;
    RW_ASSIGN_OR_RETURN(record.awaited.value, Member(object, "value"));
    RW_ASSIGN_OR_RETURN(record.awaited.boot_id, Member(object, "boot"));
    RW_ASSIGN_OR_RETURN(record.awaited.firmware, Member(object, "firmware"));
    RW_ASSIGN_OR_RETURN(const std::string since, Member(object, "since"));
    RW_ASSIGN_OR_RETURN(record.awaited.since, Time(since));
  } else if (op == "begin") {
    record.op = JournalRecord::Op::kBegin;
    record.step.key = record.key;
    record.step.target = record.target;
    RW_ASSIGN_OR_RETURN(record.step.from, Member(object, "from"));
    RW_ASSIGN_OR_RETURN(record.step.to, Member(object, "to"));
  } else if (op == "original") {
    record.op = JournalRecord::Op::kOriginal;
    record.original.key = record.key;
    record.original.target = record.target;
    RW_ASSIGN_OR_RETURN(const std::string kind, Member(object, "kind"));
    RW_ASSIGN_OR_RETURN(record.original.kind, ParseKind(kind));
    RW_ASSIGN_OR_RETURN(record.original.value, Member(object, "value"));
    // Left out when it is the default, and by older versions.
    if (object.contains("max_disruption")) {
      RW_ASSIGN_OR_RETURN(const std::string most, Member(object, "max_disruption"));
      const auto disruption = ParseDisruption(most);
      if (!disruption) return Damaged("unknown max_disruption \"" + most + "\"");
      record.original.max_disruption = *disruption;
    }
  } else {
    return Damaged("unknown op \"" + op + "\": written by a newer version?");
  }
  return record;
}

}  // namespace

std::string FormatRecord(const JournalRecord& record) {
  json object;
  const auto place = [&](const std::string& key, const std::string& target) {
    object["key"] = BytesToText(key);
    object["target"] = BytesToText(target);
  };
  switch (record.op) {
    case JournalRecord::Op::kOriginal:
      object["op"] = "original";
      place(record.original.key, record.original.target);
      object["kind"] = Name(record.original.kind);
      object["value"] = BytesToText(record.original.value);
      if (record.original.max_disruption != Original().max_disruption)
        object["max_disruption"] = Name(record.original.max_disruption);
      break;
    case JournalRecord::Op::kBegin:
      object["op"] = "begin";
      place(record.step.key, record.step.target);
      object["from"] = BytesToText(record.step.from);
      object["to"] = BytesToText(record.step.to);
      break;
    case JournalRecord::Op::kEnd:
      object["op"] = "end";
      place(record.key, record.target);
      break;
    case JournalRecord::Op::kForget:
      object["op"] = "forget";
      place(record.key, record.target);
      break;
    case JournalRecord::Op::kAwaited:
      object["op"] = "awaited";
      place(record.awaited.key, record.awaited.target);
      object["value"] = BytesToText(record.awaited.value);
      object["boot"] = BytesToText(record.awaited.boot_id);
      object["firmware"] = BytesToText(record.awaited.firmware);
      object["since"] = std::to_string(ToUnixMicros(record.awaited.since));
      break;
    case JournalRecord::Op::kForgetAwaited:
      object["op"] = "forget-awaited";
      place(record.key, record.target);
      break;
    case JournalRecord::Op::kTry:
      object = ToJson(record.open);
      object["op"] = "try";
      break;
    case JournalRecord::Op::kEndTry: object["op"] = "end-try"; break;
    case JournalRecord::Op::kFailedTry:
      object = ToJson(record.failed);
      object["op"] = "failed-try";
      place(record.failed.key, record.failed.target);
      break;
    case JournalRecord::Op::kForgetFailedTry:
      object["op"] = "forget-failed-try";
      place(record.key, record.target);
      break;
    case JournalRecord::Op::kPrepared:
      object["op"] = "prepared";
      object["paths"] = json::array();
      for (const std::string& path : record.prepared) object["paths"].push_back(BytesToText(path));
      break;
  }
  // ensure_ascii: a line can be read and mailed anywhere. Keys are sorted, so the text is reproducible.
  const auto dump = [](const json& value) { return value.dump(-1, ' ', true); };
  object["sum"] = Checksum(dump(object));
  return dump(object) + "\n";
}

Result<JournalRecord> ParseRecord(std::string_view line) {
  json object = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded() || !object.is_object()) return Damaged("not a JSON object");
  try {
    const auto sum = object.find("sum");
    if (sum == object.end() || !sum->is_string()) return Damaged("no checksum");
    const std::string written = sum->get<std::string>();
    object.erase(sum);
    if (Checksum(object.dump(-1, ' ', true)) != written) return Damaged("its checksum does not match");
    return FromObject(object);
  } catch (const json::exception& error) {
    return Damaged(error.what());
  }
}

}  // namespace railwright
