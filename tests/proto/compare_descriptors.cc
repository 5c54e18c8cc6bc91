#include "tests/proto/compare_descriptors.h"

#include <algorithm>
#include <map>

#include "railwright/v1/documents.pb.h"

namespace railwright {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::EnumDescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using google::protobuf::MethodDescriptorProto;
using google::protobuf::ServiceDescriptorProto;

// Everything of a set by its full name.
struct Index {
  std::map<std::string, const DescriptorProto*> messages;
  std::map<std::string, const EnumDescriptorProto*> enums;
  std::map<std::string, const ServiceDescriptorProto*> services;
  std::map<std::string, const FieldDescriptorProto*> extensions;
};

void AddMessage(const std::string& scope, const DescriptorProto& message, Index& index) {
  const std::string name = scope + "." + message.name();
  index.messages[name] = &message;
  for (const auto& nested : message.nested_type()) AddMessage(name, nested, index);
  for (const auto& nested : message.enum_type()) index.enums[name + "." + nested.name()] = &nested;
  for (const auto& extension : message.extension())
    index.extensions[name + "." + extension.name()] = &extension;
}

Index IndexOf(const FileDescriptorSet& set) {
  Index index;
  for (const FileDescriptorProto& file : set.file()) {
    if (file.package().starts_with("google.protobuf")) continue;
    for (const auto& message : file.message_type()) AddMessage(file.package(), message, index);
    for (const auto& one : file.enum_type()) index.enums[file.package() + "." + one.name()] = &one;
    for (const auto& one : file.service()) index.services[file.package() + "." + one.name()] = &one;
    for (const auto& one : file.extension()) index.extensions[file.package() + "." + one.name()] = &one;
  }
  return index;
}

std::string TypeOf(const FieldDescriptorProto& field) {
  std::string text = FieldDescriptorProto::Type_Name(field.type()).substr(5);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return field.type_name().empty() ? text : text + " " + field.type_name().substr(1);
}

// "repeated", "optional" (with presence) or "single".
std::string CardinalityOf(const FieldDescriptorProto& field) {
  if (field.label() == FieldDescriptorProto::LABEL_REPEATED) return "repeated";
  return field.proto3_optional() ? "optional" : "single";
}

std::string OneofOf(const DescriptorProto& message, const FieldDescriptorProto& field) {
  if (!field.has_oneof_index() || field.proto3_optional()) return "no oneof";
  return "oneof " + message.oneof_decl(field.oneof_index()).name();
}

class Comparison {
 public:
  std::vector<std::string> Run(const Index& locked, const Index& current);

 private:
  void Say(std::string sentence) { breaks_.push_back(std::move(sentence)); }
  void Changed(const std::string& what, const std::string& from, const std::string& to) {
    if (from != to) Say(what + " was " + from + ", is " + to);
  }
  void Message(const std::string& name, const DescriptorProto& was, const DescriptorProto& is);
  void Field(const std::string& name, const FieldDescriptorProto& was, const FieldDescriptorProto& is);
  void Rules(const std::string& name, const FieldDescriptorProto& was, const FieldDescriptorProto& is);
  void Enum(const std::string& name, const EnumDescriptorProto& was, const EnumDescriptorProto& is);
  void Service(const std::string& name, const ServiceDescriptorProto& was, const ServiceDescriptorProto& is);

  std::vector<std::string> breaks_;
};

// A message's ranges exclude their end, an enum's include it; one past the end is passed here.
template <class Ranges>
bool Reserved(const Ranges& ranges, int number, int inclusive) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const auto& r) { return number >= r.start() && number < r.end() + inclusive; });
}

template <class Names>
bool Listed(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What was reserved stays so: a number that is free again could be used again.
template <class Proto, class Tell>
void CompareReserved(const Proto& was, const Proto& is, int inclusive, const Tell& tell) {
  for (const auto& range : was.reserved_range()) {
    // From range to range, for "to max" is half a billion numbers.
    for (int number = range.start(); number < range.end() + inclusive;) {
      const auto holds =
          std::find_if(is.reserved_range().begin(), is.reserved_range().end(),
                       [&](const auto& r) { return number >= r.start() && number < r.end() + inclusive; });
      if (holds == is.reserved_range().end()) {
        tell("number " + std::to_string(number) + " is no longer reserved");
        break;  // a range is one promise
      }
      number = holds->end() + inclusive;
    }
  }
  for (const std::string& name : was.reserved_name())
    if (!Listed(is.reserved_name(), name)) tell("name \"" + name + "\" is no longer reserved");
}

std::vector<std::string> Comparison::Run(const Index& locked, const Index& current) {
  const auto compare = [&](const char* what, const auto& was, const auto& is, auto each) {
    for (const auto& [name, one] : was) {
      const auto found = is.find(name);
      if (found == is.end())
        Say(std::string(what) + " " + name + " was removed");
      else
        (this->*each)(name, *one, *found->second);
    }
  };
  compare("message", locked.messages, current.messages, &Comparison::Message);
  compare("enum", locked.enums, current.enums, &Comparison::Enum);
  compare("service", locked.services, current.services, &Comparison::Service);
  compare("extension", locked.extensions, current.extensions, &Comparison::Field);
  return std::move(breaks_);
}

void Comparison::Message(const std::string& name, const DescriptorProto& was, const DescriptorProto& is) {
  for (const FieldDescriptorProto& field : was.field()) {
    const std::string what = name + "." + field.name();
    const auto same = std::find_if(is.field().begin(), is.field().end(),
                                   [&](const auto& f) { return f.number() == field.number(); });
    if (same == is.field().end()) {
      if (!Reserved(is.reserved_range(), field.number(), 0))
        Say(what + " was removed and its number " + std::to_string(field.number()) + " is not reserved");
      if (!Listed(is.reserved_name(), field.name())) Say(what + " was removed and its name is not reserved");
      continue;
    }
    if (same->name() != field.name()) {
      Say(what + ": number " + std::to_string(field.number()) + " is now \"" + same->name() + "\"");
      continue;
    }
    Field(what, field, *same);
    Changed(what, OneofOf(was, field), OneofOf(is, *same));
  }
  CompareReserved(was, is, 0, [&](const std::string& sentence) { Say(name + ": " + sentence); });
}

void Comparison::Field(const std::string& name, const FieldDescriptorProto& was,
                       const FieldDescriptorProto& is) {
  Changed(name, "number " + std::to_string(was.number()), "number " + std::to_string(is.number()));
  Changed(name, TypeOf(was), TypeOf(is));
  Changed(name, CardinalityOf(was), CardinalityOf(is));
  Changed(name, "in JSON \"" + was.json_name() + "\"", "in JSON \"" + is.json_name() + "\"");
  if (was.extendee() != is.extendee()) Say(name + " extends another message");
  Rules(name, was, is);
}

// Stored documents are read again by later versions: what was valid stays valid.
void Comparison::Rules(const std::string& name, const FieldDescriptorProto& was,
                       const FieldDescriptorProto& is) {
  const v1::FieldRules& before = was.options().GetExtension(v1::rules);
  const v1::FieldRules& now = is.options().GetExtension(v1::rules);
  if (now.required() && !before.required()) Say(name + " became required");
  if (now.not_empty() && !before.not_empty()) Say(name + " must now not be empty");
  if (now.form() != before.form() && !now.form().empty()) Say(name + " must now be a " + now.form());
  if (before.choices().empty() && !now.choices().empty()) Say(name + " now allows only some texts");
  for (const std::string& choice : before.choices())
    if (!now.choices().empty() && !Listed(now.choices(), choice))
      Say(name + " no longer allows \"" + choice + "\"");
}

void Comparison::Enum(const std::string& name, const EnumDescriptorProto& was,
                      const EnumDescriptorProto& is) {
  for (const auto& value : was.value()) {
    const auto same = std::find_if(is.value().begin(), is.value().end(), [&](const auto& v) {
      return v.number() == value.number() && v.name() == value.name();
    });
    if (same != is.value().end()) continue;
    const std::string what = name + "." + value.name();
    const auto renumbered = std::find_if(is.value().begin(), is.value().end(),
                                         [&](const auto& v) { return v.name() == value.name(); });
    const auto renamed = std::find_if(is.value().begin(), is.value().end(),
                                      [&](const auto& v) { return v.number() == value.number(); });
    if (renumbered != is.value().end()) {
      Changed(what, std::to_string(value.number()), std::to_string(renumbered->number()));
    } else if (renamed != is.value().end()) {
      Say(what + ": number " + std::to_string(value.number()) + " is now \"" + renamed->name() + "\"");
    } else {
      if (!Reserved(is.reserved_range(), value.number(), 1))
        Say(what + " was removed and its number " + std::to_string(value.number()) + " is not reserved");
      if (!Listed(is.reserved_name(), value.name())) Say(what + " was removed and its name is not reserved");
    }
  }
  CompareReserved(was, is, 1, [&](const std::string& sentence) { Say(name + ": " + sentence); });
}

void Comparison::Service(const std::string& name, const ServiceDescriptorProto& was,
                         const ServiceDescriptorProto& is) {
  const auto shape = [](const MethodDescriptorProto& m) {
    return std::string(m.client_streaming() ? "stream " : "") + m.input_type() + " → " +
           (m.server_streaming() ? "stream " : "") + m.output_type();
  };
  for (const MethodDescriptorProto& method : was.method()) {
    const auto same = std::find_if(is.method().begin(), is.method().end(),
                                   [&](const auto& m) { return m.name() == method.name(); });
    if (same == is.method().end())
      Say("method " + name + "." + method.name() + " was removed");
    else
      Changed("method " + name + "." + method.name(), shape(method), shape(*same));
  }
}

}  // namespace

std::vector<std::string> Breaks(const FileDescriptorSet& locked, const FileDescriptorSet& current) {
  return Comparison().Run(IndexOf(locked), IndexOf(current));
}

}  // namespace railwright
