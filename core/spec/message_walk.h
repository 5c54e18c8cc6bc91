// The generic walk: a YAML tree against a message's descriptor. The schema is the proto.
#pragma once

#include <string_view>

#include "core/spec/yaml_tree.h"

namespace railwright::spec {

/// Fills messages of one document; every problem is told with its place, and the walk goes on.
class MessageWalk {
 public:
  MessageWalk(std::string_view file, Places& places, Problems& problems)
      : file_(file), places_(places), problems_(problems) {}

  /// `ignored`: a key of this map that is no field (the root's "kind").
  void Fill(const YamlNode& map, google::protobuf::Message& message, std::string_view ignored = {});

 private:
  using Field = google::protobuf::FieldDescriptor;

  // `owner`: the place of the map that holds the field, under which its values' places are kept.
  void FillField(Place owner, const YamlNode& key, const YamlNode& value, google::protobuf::Message& message,
                 const Field& field);
  void FillList(Place owner, const YamlNode& value, google::protobuf::Message& message, const Field& field);
  void FillTextMap(Place owner, const YamlNode& value, google::protobuf::Message& message,
                   const Field& field);
  // Special form 1: a list of SettingEntry, written as a map (Profile.settings).
  void FillEntries(const YamlNode& value, google::protobuf::Message& message, const Field& field);
  // Special form 2: SettingValue, written as a text, a list of texts or (not within itself) a map.
  void FillSettingValue(const YamlNode& value, v1::SettingValue& out, std::string_view name,
                        bool map_allowed);
  // Sets a scalar field, or adds to a repeated one; `name` is for messages.
  bool PutScalar(const YamlNode& value, std::string_view name, google::protobuf::Message& message,
                 const Field& field);
  bool ObeysRules(const YamlNode& value, std::string_view name, const Field& field);
  void SetMark(const YamlNode& node, google::protobuf::Message& message);
  void Mark(const YamlNode& node, v1::Mark& mark);
  void WrongType(const YamlNode& value, std::string_view name, std::string_view expected);
  void Unknown(const YamlNode& key, const google::protobuf::Descriptor& type);

  std::string_view file_;
  Places& places_;
  Problems& problems_;
};

}  // namespace railwright::spec
