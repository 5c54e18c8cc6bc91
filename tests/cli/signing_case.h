// A generation that waits for signatures, as an honest controller tells it.
#pragma once

#include "controller/cli/signing.h"
#include "controller/fleet/node_desired.h"
#include "core/identity/envelope.h"
#include "core/identity/statement_number.h"
#include "core/spec/loader.h"

namespace railwright::cli {

/// 2026-12-01T10:00:00Z.
inline constexpr identity::Time kNoon{std::chrono::seconds(1'796'119'200)};

inline std::string SignedSite(int mtu) {
  return "kind: Cluster\nname: pod-a\nnodes:\n  - {name: \"gpu-[001-002]\", role: gpu}\nports:\n"
         "  - {name: rail0, select: {netdev: rail0}, role: fabric, address: \"10.10.0.{index}/24\"}\n"
         "---\nkind: Profile\nname: base\nfor: {role: gpu}\nmode: enforce\nsettings:\n  link.mtu: {fabric: " +
         std::to_string(mtu) + "}\n";
}

inline std::string SignedUuid(const std::string& node) {
  return "0f8fad5b-d9cb-469f-a165-708677289" + node.substr(4);
}

/// Generation 7 with MTU 9000, before it 6 with 4200. `line`: a key that has not signed. `now`: from when on
/// it is valid, for 180 days.
inline SigningCase HonestCase(const identity::Pin& line, identity::Time now = kNoon) {
  SigningCase made;
  made.head.set_generation(7);
  made.head.set_before(6);
  made.head.set_author("ann");
  std::vector<Document> documents = LoadDocuments("site.yaml", SignedSite(9000)).documents;
  for (const Document& one : documents) {
    v1::SourceFile* file = made.head.add_documents();
    file->set_name(one.file);
    file->set_text(one.text);
    made.head.add_lines(static_cast<std::uint32_t>(one.line));
  }
  for (const Document& one : LoadDocuments("site.yaml", SignedSite(4200)).documents) {
    v1::SourceFile* file = made.head.add_documents_before();
    file->set_name(one.file);
    file->set_text(one.text);
  }
  const auto resolved = Resolve(documents, CatalogDeclarations());
  for (const auto& [node, desired] : BuildDesired(std::get<Resolved>(resolved), {})) {
    const auto second = std::chrono::floor<std::chrono::seconds>(now);
    const identity::Statement said{
        .schema = identity::kStateSchema,
        .cluster = *identity::ClusterName::Parse("pod-a"),
        .audience = identity::Audience::Node(*identity::NodeUuid::Parse(SignedUuid(node))),
        .line = line,
        .generation = identity::StatementNumber{7, 0}.Packed(),
        .previous = {},
        .not_before = second,
        .not_after = second + std::chrono::hours(180 * 24),
        .created_by = "ann",
        .payload_bytes = static_cast<std::uint32_t>(desired.bytes()),
        .payload_sha256 = *identity::ParseDigest(desired.hash)};
    v1::StatementToSign& one = made.statements.emplace_back();
    one.set_node(node);
    one.set_uuid(SignedUuid(node));
    one.set_statement(*said.Encode());
    one.set_threshold(1);
  }
  return made;
}

}  // namespace railwright::cli
