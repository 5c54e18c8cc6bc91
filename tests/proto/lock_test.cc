// The tree's messages against the last release's, and that the comparison sees every kind of break.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "railwright/v1/documents.pb.h"
#include "tests/proto/compare_descriptors.h"

namespace railwright {
namespace {

using google::protobuf::FileDescriptorSet;
using Texts = std::vector<std::string>;

FileDescriptorSet Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  FileDescriptorSet set;
  EXPECT_TRUE(file.is_open() && set.ParseFromString(bytes.str()) && set.file_size() > 0)
      << path << " is not readable";
  return set;
}

TEST(ProtoLockTest, NothingOfTheLastReleaseIsBroken) {
  const FileDescriptorSet locked = Read(RAILWRIGHT_SOURCE_DIR "/proto/lock.binpb");
  const FileDescriptorSet current = Read(RAILWRIGHT_BINARY_DIR "/proto/current.binpb");
  EXPECT_EQ(Breaks(locked, current), Texts{}) << "see tests/proto/README.md";
}

// A small release with one of everything.
constexpr const char* kRelease = R"(
  file {
    name: "a.proto" package: "p" syntax: "proto3"
    message_type {
      name: "M"
      field { name: "one" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "one" }
      field { name: "many" number: 2 label: LABEL_REPEATED type: TYPE_INT32 json_name: "many" }
      field { name: "in_oneof" number: 3 label: LABEL_OPTIONAL type: TYPE_BOOL json_name: "inOneof" oneof_index: 0 }
      field { name: "child" number: 4 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".p.M.N" json_name: "child" }
      field { name: "role" number: 5 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "role"
              options { [railwright.v1.rules] { choices: "x" choices: "y" } } }
      nested_type { name: "N" field { name: "f" number: 1 label: LABEL_OPTIONAL type: TYPE_BYTES json_name: "f" } }
      oneof_decl { name: "form" }
      reserved_range { start: 8 end: 10 }
      reserved_name: "old"
    }
    enum_type {
      name: "E"
      value { name: "E_UNSPECIFIED" number: 0 } value { name: "E_A" number: 1 }
      reserved_range { start: 5 end: 6 }
    }
    service { name: "S"
      method { name: "Do" input_type: ".p.M" output_type: ".p.M" }
      method { name: "Watch" input_type: ".p.M" output_type: ".p.M" server_streaming: true }
    }
    extension { name: "x" number: 50000 label: LABEL_OPTIONAL type: TYPE_STRING extendee: ".p.M" json_name: "x" }
  })";

FileDescriptorSet Release() {
  FileDescriptorSet set;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kRelease, &set));
  return set;
}

// What the comparison says after one change of the release.
template <class Change>
Texts After(Change change) {
  FileDescriptorSet set = Release();
  change(*set.mutable_file(0));
  return Breaks(Release(), set);
}

using File = google::protobuf::FileDescriptorProto;
auto& M(File& file) { return *file.mutable_message_type(0); }
auto& F(File& file, int index) { return *M(file).mutable_field(index); }

TEST(BreaksTest, AReleaseDoesNotBreakItself) { EXPECT_EQ(Breaks(Release(), Release()), Texts{}); }

TEST(BreaksTest, AdditionsBreakNothing) {
  EXPECT_EQ(After([](File& file) {
              auto* field = M(file).add_field();
              field->set_name("fresh");
              field->set_number(6);
              M(file).add_reserved_range()->set_start(20);
              M(file).mutable_reserved_range(1)->set_end(30);
              M(file).add_reserved_name("never");
              file.add_message_type()->set_name("Fresh");
              auto* value = file.mutable_enum_type(0)->add_value();
              value->set_name("E_B");
              value->set_number(2);
              file.mutable_service(0)->add_method()->set_name("Fresh");
              F(file, 4).mutable_options()->MutableExtension(v1::rules)->add_choices("z");
            }),
            Texts{});
}

TEST(BreaksTest, AMessageMayMoveToAnotherFileOfItsPackage) {
  FileDescriptorSet set = Release();
  File* other = set.add_file();
  other->set_package("p");
  *other->add_message_type() = set.file(0).message_type(0);
  set.mutable_file(0)->clear_message_type();
  EXPECT_EQ(Breaks(Release(), set), Texts{});
}

TEST(BreaksTest, RemovalsNeedReservations) {
  const auto remove = [](File& file) { M(file).mutable_field()->DeleteSubrange(0, 1); };
  EXPECT_EQ(After(remove), (Texts{"p.M.one was removed and its number 1 is not reserved",
                                  "p.M.one was removed and its name is not reserved"}));
  EXPECT_EQ(After([&](File& file) {
              remove(file);
              auto* range = M(file).add_reserved_range();
              range->set_start(1);
              range->set_end(2);
            }),
            Texts{"p.M.one was removed and its name is not reserved"});
  EXPECT_EQ(After([&](File& file) {
              remove(file);
              auto* range = M(file).add_reserved_range();
              range->set_start(1);
              range->set_end(2);
              M(file).add_reserved_name("one");
            }),
            Texts{});
}

TEST(BreaksTest, ANumberIsNeverUsedAgain) {
  EXPECT_EQ(After([](File& file) { F(file, 0).set_name("other"); }),
            Texts{"p.M.one: number 1 is now \"other\""});
  EXPECT_EQ(After([](File& file) { M(file).clear_reserved_range(); }),
            Texts{"p.M: number 8 is no longer reserved"});
  EXPECT_EQ(After([](File& file) { M(file).mutable_reserved_range(0)->set_end(9); }),
            Texts{"p.M: number 9 is no longer reserved"});
  EXPECT_EQ(After([](File& file) {
              // The same numbers, in two ranges.
              M(file).mutable_reserved_range(0)->set_end(9);
              auto* rest = M(file).add_reserved_range();
              rest->set_start(9);
              rest->set_end(536870912);
            }),
            Texts{});
  EXPECT_EQ(After([](File& file) { M(file).clear_reserved_name(); }),
            Texts{"p.M: name \"old\" is no longer reserved"});
}

TEST(BreaksTest, AFieldKeepsTypeCardinalityAndName) {
  using Field = google::protobuf::FieldDescriptorProto;
  EXPECT_EQ(After([](File& file) { F(file, 0).set_type(Field::TYPE_BYTES); }),
            Texts{"p.M.one was string, is bytes"});
  EXPECT_EQ(After([](File& file) { F(file, 3).set_type_name(".p.M"); }),
            Texts{"p.M.child was message p.M.N, is message p.M"});
  EXPECT_EQ(After([](File& file) { F(file, 0).set_label(Field::LABEL_REPEATED); }),
            Texts{"p.M.one was single, is repeated"});
  EXPECT_EQ(After([](File& file) { F(file, 1).set_label(Field::LABEL_OPTIONAL); }),
            Texts{"p.M.many was repeated, is single"});
  EXPECT_EQ(After([](File& file) { F(file, 0).set_proto3_optional(true); }),
            Texts{"p.M.one was single, is optional"});
  EXPECT_EQ(After([](File& file) { F(file, 0).set_json_name("uno"); }),
            Texts{"p.M.one was in JSON \"one\", is in JSON \"uno\""});
  EXPECT_EQ(After([](File& file) { F(file, 2).clear_oneof_index(); }),
            Texts{"p.M.in_oneof was oneof form, is no oneof"});
  EXPECT_EQ(After([](File& file) { F(file, 0).set_oneof_index(0); }),
            Texts{"p.M.one was no oneof, is oneof form"});
}

TEST(BreaksTest, WhatWasAValidDocumentStaysOne) {
  const auto rules = [](File& file, int index) {
    return F(file, index).mutable_options()->MutableExtension(v1::rules);
  };
  EXPECT_EQ(After([&](File& file) { rules(file, 0)->set_required(true); }), Texts{"p.M.one became required"});
  EXPECT_EQ(After([&](File& file) { rules(file, 0)->set_not_empty(true); }),
            Texts{"p.M.one must now not be empty"});
  EXPECT_EQ(After([&](File& file) { rules(file, 0)->set_form("name"); }),
            Texts{"p.M.one must now be a name"});
  EXPECT_EQ(After([&](File& file) { rules(file, 0)->add_choices("x"); }),
            Texts{"p.M.one now allows only some texts"});
  EXPECT_EQ(After([&](File& file) { rules(file, 4)->mutable_choices()->DeleteSubrange(1, 1); }),
            Texts{"p.M.role no longer allows \"y\""});
}

TEST(BreaksTest, MessagesEnumsAndExtensionsStay) {
  EXPECT_EQ(After([](File& file) { file.clear_message_type(); }),
            (Texts{"message p.M was removed", "message p.M.N was removed"}));
  EXPECT_EQ(After([](File& file) { M(file).clear_nested_type(); }), Texts{"message p.M.N was removed"});
  EXPECT_EQ(After([](File& file) { file.set_package("q"); }).size(), 5U);
  EXPECT_EQ(After([](File& file) { file.clear_enum_type(); }), Texts{"enum p.E was removed"});
  EXPECT_EQ(After([](File& file) { file.mutable_enum_type(0)->mutable_value()->RemoveLast(); }),
            (Texts{"p.E.E_A was removed and its number 1 is not reserved",
                   "p.E.E_A was removed and its name is not reserved"}));
  EXPECT_EQ(After([](File& file) { file.mutable_enum_type(0)->mutable_value(1)->set_number(7); }),
            Texts{"p.E.E_A was 1, is 7"});
  EXPECT_EQ(After([](File& file) { file.mutable_enum_type(0)->mutable_value(1)->set_name("E_Z"); }),
            Texts{"p.E.E_A: number 1 is now \"E_Z\""});
  EXPECT_EQ(After([](File& file) { file.mutable_enum_type(0)->mutable_reserved_range(0)->set_end(5); }),
            Texts{"p.E: number 6 is no longer reserved"});
  EXPECT_EQ(After([](File& file) { file.clear_extension(); }), Texts{"extension p.x was removed"});
  EXPECT_EQ(After([](File& file) { file.mutable_extension(0)->set_number(50001); }),
            Texts{"p.x was number 50000, is number 50001"});
}

TEST(BreaksTest, MethodsStayAsTheyAre) {
  EXPECT_EQ(After([](File& file) { file.clear_service(); }), Texts{"service p.S was removed"});
  EXPECT_EQ(After([](File& file) { file.mutable_service(0)->mutable_method()->RemoveLast(); }),
            Texts{"method p.S.Watch was removed"});
  EXPECT_EQ(After([](File& file) { file.mutable_service(0)->mutable_method(0)->set_input_type(".p.M.N"); }),
            Texts{"method p.S.Do was .p.M → .p.M, is .p.M.N → .p.M"});
  EXPECT_EQ(
      After([](File& file) { file.mutable_service(0)->mutable_method(1)->set_server_streaming(false); }),
      Texts{"method p.S.Watch was .p.M → stream .p.M, is .p.M → .p.M"});
  EXPECT_EQ(After([](File& file) { file.mutable_service(0)->mutable_method(0)->set_client_streaming(true); }),
            Texts{"method p.S.Do was .p.M → .p.M, is stream .p.M → .p.M"});
}

}  // namespace
}  // namespace railwright
