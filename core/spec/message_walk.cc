#include "core/spec/message_walk.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "railwright/explain.h"

namespace railwright::spec {

namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Kind = YamlNode::Kind;

// A longer word is no slip of the hand, and the search costs its length times the known words'.
constexpr std::size_t kLongestTypo = 64;

bool IsMark(const FieldDescriptor& field) {
  return field.type() == FieldDescriptor::TYPE_MESSAGE && field.message_type() == v1::Mark::descriptor();
}

// Special form 1: a list of SettingEntry is written as a map.
bool IsEntries(const FieldDescriptor& field) {
  return field.is_repeated() && field.type() == FieldDescriptor::TYPE_MESSAGE &&
         field.message_type() == v1::SettingEntry::descriptor();
}

std::string Expected(const FieldDescriptor& field) {
  if (field.is_map()) return "a map of texts";
  if (IsEntries(field)) return "a map of settings";
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE: return field.is_repeated() ? "a list of maps" : "a map";
    case FieldDescriptor::CPPTYPE_STRING: return field.is_repeated() ? "a list of texts" : "a text";
    case FieldDescriptor::CPPTYPE_BOOL: return "true or false";
    case FieldDescriptor::CPPTYPE_ENUM: return "one word";
    default: return field.is_repeated() ? "a list of numbers" : "a number";
  }
}

std::string Join(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) {
    if (!out.empty()) out += ", ";
    out += word;
  }
  return out;
}

std::string DidYouMean(std::string_view typed, const std::vector<std::string_view>& known,
                       std::string_view all) {
  const std::string_view near = typed.size() <= kLongestTypo ? Nearest(typed, known) : std::string_view();
  if (!near.empty()) return "; did you mean \"" + std::string(near) + "\"?";
  return "; " + std::string(all) + ": " + Join(known);
}

bool IsName(std::string_view text) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= 63 && alphanumeric(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

template <class T>
std::string ReadWhole(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const std::string range = "a whole number between " + std::to_string(std::numeric_limits<T>::min()) +
                            " and " + std::to_string(std::numeric_limits<T>::max());
  if (error != std::errc() || end != text.data() + text.size()) return "expected " + range;
  const std::size_t digits = text.starts_with('-') ? 1 : 0;
  if (text.size() > digits + 1 && text[digits] == '0')
    return "a leading zero is ambiguous (octal or decimal); write " + std::to_string(out);
  return {};
}

}  // namespace

void MessageWalk::Mark(const YamlNode& node, v1::Mark& mark) {
  mark.set_file(std::string(file_));
  mark.set_line(static_cast<std::uint32_t>(node.place.line));
  mark.set_column(static_cast<std::uint32_t>(node.place.column));
}

void MessageWalk::SetMark(const YamlNode& node, Message& message) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName("mark");
  if (field == nullptr || !IsMark(*field)) return;
  Mark(node, static_cast<v1::Mark&>(*message.GetReflection()->MutableMessage(&message, field)));
}

void MessageWalk::WrongType(const YamlNode& value, std::string_view name, std::string_view expected) {
  if (value.refused) return;
  std::string message =
      std::string(name) + ": expected " + std::string(expected) + ", found " + Describe(value);
  if (value.kind == Kind::kScalar && !value.nothing && expected == "a list of texts")
    message += "; put it in [ ]";
  if (value.nothing && expected == "a text") message += "; write \"\" for an empty text";
  problems_.Add(value.place, std::move(message), value.width);
}

void MessageWalk::Unknown(const YamlNode& key, const Descriptor& type) {
  std::vector<std::string_view> known;
  for (int i = 0; i < type.field_count(); ++i)
    if (!IsMark(*type.field(i))) known.push_back(type.field(i)->name());
  problems_.Add(key.place,
                "unknown field \"" + Describe(key).substr(1) + DidYouMean(key.text, known, "known are"),
                key.width);
}

void MessageWalk::Fill(const YamlNode& map, Message& message, std::string_view ignored) {
  const Descriptor& type = *message.GetDescriptor();
  SetMark(map, message);
  std::vector<const FieldDescriptor*> given;
  for (std::size_t i = 0; i + 1 < map.items.size(); i += 2) {
    const YamlNode& key = map.items[i];
    if (key.text.empty() || key.refused || (!ignored.empty() && key.text == ignored)) continue;
    const FieldDescriptor* field = type.FindFieldByName(key.text);
    if (field == nullptr || IsMark(*field)) {
      Unknown(key, type);
      continue;
    }
    given.push_back(field);
    if (const auto* oneof = field->real_containing_oneof()) {
      const auto* other = message.GetReflection()->GetOneofFieldDescriptor(message, oneof);
      if (other != nullptr) {
        problems_.Add(key.place, "\"" + field->name() + "\" and \"" + other->name() + "\" exclude each other",
                      key.width);
        continue;
      }
    }
    FillField(map.place, key, map.items[i + 1], message, *field);
  }
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (!field->options().GetExtension(v1::rules).required()) continue;
    if (std::find(given.begin(), given.end(), field) == given.end())
      problems_.Add(map.place, "missing \"" + field->name() + "\" (" + Expected(*field) + ")", map.width);
  }
}

void MessageWalk::FillField(Place owner, const YamlNode& key, const YamlNode& value, Message& message,
                            const Field& field) {
  if (value.kind != Kind::kScalar && value.items.empty() &&
      field.options().GetExtension(v1::rules).not_empty())
    return problems_.Add(value.place, field.name() + ": must not be empty; leave it out", key.width);
  if (field.is_map()) return FillTextMap(owner, value, message, field);
  if (IsEntries(field)) return FillEntries(value, message, field);
  if (field.is_repeated()) return FillList(owner, value, message, field);
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    Message& child = *message.GetReflection()->MutableMessage(&message, &field);
    if (field.message_type() == v1::SettingValue::descriptor())
      return FillSettingValue(value, static_cast<v1::SettingValue&>(child), key.text, true);
    if (value.kind != Kind::kMap) return WrongType(value, field.name(), Expected(field));
    return Fill(value, child);
  }
  if (PutScalar(value, field.name(), message, field)) places_.Add(owner, field.number(), 0, value.place);
}

void MessageWalk::FillList(Place owner, const YamlNode& value, Message& message, const Field& field) {
  if (value.kind != Kind::kList) return WrongType(value, field.name(), Expected(field));
  int kept = 0;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const YamlNode& item = value.items[i];
    const std::string name = field.name() + "[" + std::to_string(i) + "]";
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (item.kind != Kind::kMap)
        WrongType(item, name, "a map");
      else
        Fill(item, *message.GetReflection()->AddMessage(&message, &field));
    } else if (PutScalar(item, name, message, field)) {
      places_.Add(owner, field.number(), Places::Index(kept++), item.place);
    }
  }
}

void MessageWalk::FillTextMap(Place owner, const YamlNode& value, Message& message, const Field& field) {
  if (value.kind != Kind::kMap) return WrongType(value, field.name(), Expected(field));
  const FieldDescriptor& to = *field.message_type()->map_value();
  if (field.message_type()->map_key()->cpp_type() != FieldDescriptor::CPPTYPE_STRING ||
      to.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
    return WrongType(value, field.name(), "a field that this version can read");
  for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
    const YamlNode& key = value.items[i];
    if (key.text.empty()) continue;
    Message& entry = *message.GetReflection()->AddMessage(&message, &field);
    entry.GetReflection()->SetString(&entry, field.message_type()->map_key(), key.text);
    if (PutScalar(value.items[i + 1], field.name() + "." + key.text, entry, to))
      places_.Add(owner, field.number(), Places::Key(key.text), value.items[i + 1].place);
  }
}

void MessageWalk::FillEntries(const YamlNode& value, Message& message, const Field& field) {
  if (value.kind != Kind::kMap) return WrongType(value, field.name(), Expected(field));
  for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
    const YamlNode& key = value.items[i];
    if (key.text.empty()) continue;
    auto& entry = static_cast<v1::SettingEntry&>(*message.GetReflection()->AddMessage(&message, &field));
    entry.set_key(key.text);
    Mark(key, *entry.mutable_mark());
    FillSettingValue(value.items[i + 1], *entry.mutable_value(), key.text, true);
  }
}

void MessageWalk::FillSettingValue(const YamlNode& value, v1::SettingValue& out, std::string_view name,
                                   bool map_allowed) {
  Mark(value, *out.mutable_mark());
  const std::string_view expected =
      map_allowed ? "a text, a list of texts or a map" : "a text or a list of texts";
  if (value.nothing) return WrongType(value, name, expected);
  if (value.kind == Kind::kScalar) return out.set_scalar(value.text);
  if (value.kind == Kind::kList) {
    v1::TextList& list = *out.mutable_list();
    const FieldDescriptor& items = *v1::TextList::descriptor()->FindFieldByName("items");
    for (const YamlNode& item : value.items)
      if (PutScalar(item, name, list, items))
        places_.Add(value.place, items.number(), Places::Index(list.items_size() - 1), item.place);
    return;
  }
  if (!map_allowed) return WrongType(value, name, expected);
  v1::TextMap& map = *out.mutable_map();
  for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
    const YamlNode& key = value.items[i];
    if (key.text.empty()) continue;
    v1::TextMapEntry& entry = *map.add_entries();
    entry.set_key(key.text);
    Mark(key, *entry.mutable_mark());
    FillSettingValue(value.items[i + 1], *entry.mutable_value(), std::string(name) + "." + key.text, false);
  }
}

bool MessageWalk::ObeysRules(const YamlNode& value, std::string_view name, const Field& field) {
  const v1::FieldRules& rules = field.options().GetExtension(v1::rules);
  std::string wrong;
  if ((rules.required() || rules.not_empty()) && value.text.empty()) {
    wrong = "must not be empty";
  } else if (rules.choices_size() > 0) {
    const std::vector<std::string_view> known(rules.choices().begin(), rules.choices().end());
    if (std::find(known.begin(), known.end(), value.text) == known.end())
      wrong = "unknown value " + Describe(value) + DidYouMean(value.text, known, "allowed are");
  } else if (rules.form() == "name" && !IsName(value.text)) {
    wrong = Describe(value) +
            " is no name; letters, digits, \"-\", \"_\" and \".\" are allowed, first a letter or digit, 63 "
            "at most";
  }
  if (wrong.empty()) return true;
  problems_.Add(value.place, std::string(name) + ": " + wrong, value.width);
  return false;
}

bool MessageWalk::PutScalar(const YamlNode& value, std::string_view name, Message& message,
                            const Field& field) {
  const std::string expected = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING ? "a text"
                               : field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL ? "true or false"
                                                                                   : "a number";
  if (value.refused) return false;
  const v1::FieldRules& rules = field.options().GetExtension(v1::rules);
  if (value.nothing && (rules.required() || rules.not_empty())) return ObeysRules(value, name, field);
  if (value.kind != Kind::kScalar || value.nothing) {
    WrongType(value, name, expected);
    return false;
  }
  if (!ObeysRules(value, name, field)) return false;
  const Reflection& access = *message.GetReflection();
  const auto put = [&](auto set, auto add, auto&& what) {
    field.is_repeated() ? (access.*add)(&message, &field, what) : (access.*set)(&message, &field, what);
  };
  std::string wrong;
  const auto whole = [&]<class T>(T number, auto set, auto add) {
    wrong = ReadWhole(value.text, number);
    if (wrong.empty()) put(set, add, number);
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      put(&Reflection::SetString, &Reflection::AddString, value.text);
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      whole(std::int32_t{}, &Reflection::SetInt32, &Reflection::AddInt32);
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      whole(std::int64_t{}, &Reflection::SetInt64, &Reflection::AddInt64);
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      whole(std::uint32_t{}, &Reflection::SetUInt32, &Reflection::AddUInt32);
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      whole(std::uint64_t{}, &Reflection::SetUInt64, &Reflection::AddUInt64);
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      if (value.text != "true" && value.text != "false")
        wrong = "expected true or false";
      else
        put(&Reflection::SetBool, &Reflection::AddBool, value.text == "true");
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      double number = 0;
      const auto [end, error] =
          std::from_chars(value.text.data(), value.text.data() + value.text.size(), number);
      if (error != std::errc() || end != value.text.data() + value.text.size() || !std::isfinite(number))
        wrong = "expected a number";
      else
        put(&Reflection::SetDouble, &Reflection::AddDouble, number);
      break;
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* word = field.enum_type()->FindValueByName(value.text);
      if (word == nullptr) {
        std::vector<std::string_view> known;
        for (int i = 0; i < field.enum_type()->value_count(); ++i)
          known.push_back(field.enum_type()->value(i)->name());
        problems_.Add(value.place,
                      std::string(name) + ": unknown value " + Describe(value) +
                          DidYouMean(value.text, known, "allowed are"),
                      value.width);
        return false;
      }
      put(&Reflection::SetEnum, &Reflection::AddEnum, word);
      break;
    }
    default: wrong = "a field that this version cannot read"; break;
  }
  if (wrong.empty()) return true;
  problems_.Add(value.place, std::string(name) + ": " + wrong + ", found " + Describe(value), value.width);
  return false;
}

}  // namespace railwright::spec
