#include "controller/cli/signing.h"

#include <algorithm>
#include <map>
#include <set>

#include "controller/fleet/node_desired.h"
#include "core/identity/envelope.h"
#include "core/identity/statement_number.h"
#include "core/spec/loader.h"

namespace railwright::cli {
namespace {

using identity::Statement;
using identity::StatementNumber;

Status Refused(const std::string& why) {
  return Status(
      Code::kFailedPrecondition,
      why +
          "\nnothing was signed; if this railctl and the controller are of one version, somebody has "
          "changed what the controller asks for");
}

Result<std::map<std::string, NodeDesired>> Remade(const SigningCase& asked,
                                                  const CatalogDeclarations& catalog, SigningWork& work) {
  std::vector<Document> documents;
  std::vector<Problem> problems;
  for (int i = 0; i < asked.head.documents_size(); ++i) {
    const v1::SourceFile& file = asked.head.documents(i);
    const int line = i < asked.head.lines_size() ? static_cast<int>(asked.head.lines(i)) : 1;
    Loaded loaded = LoadDocuments(file.name(), file.text(), std::max(line, 1));
    problems.insert(problems.end(), loaded.problems.begin(), loaded.problems.end());
    for (Document& document : loaded.documents) documents.push_back(std::move(document));
  }
  if (!problems.empty()) return Refused("the documents cannot be read here: " + problems.front().ToString());
  auto resolved = Resolve(documents, catalog, {.allow_empty = true});
  if (const auto* bad = std::get_if<std::vector<Problem>>(&resolved))
    return Refused("the documents cannot be resolved here: " + bad->front().ToString());
  const Resolved& good = std::get<Resolved>(resolved);
  work.settings = CountSettings(good);
  work.warnings = good.warnings;
  std::vector<NodeKey> restores;
  for (const v1::NodeRestore& one : asked.head.restores())
    restores.push_back({one.node(), {one.what().key(), one.what().target()}});
  return BuildDesired(good, restores, std::chrono::milliseconds(asked.head.try_ms()));
}

// What only a look at the statement itself can say.
Status CheckOne(const Statement& said, const v1::StatementToSign& asked, const NodeDesired& desired,
                std::uint64_t generation, identity::Time now) {
  const std::string of = "the statement for node " + asked.node();
  if (said.schema != identity::kStateSchema)
    return Refused(of + " has schema " + std::to_string(said.schema) + ", this railctl makes " +
                   std::to_string(identity::kStateSchema));
  if (!said.audience.is_node() || said.audience.node() != asked.uuid())
    return Refused(of + " is addressed to " + said.audience.Text() + ", not to its " + asked.uuid());
  const StatementNumber number = StatementNumber::Of(said.generation);
  if (number.generation == 0 || number.generation > generation)
    return Refused(of + " is of " + number.Text() + ", asked is about generation " +
                   std::to_string(generation));
  if (identity::Hex(said.payload_sha256) != desired.hash || said.payload_bytes != desired.bytes())
    return Refused(of + " is over other bytes than the documents give: " +
                   identity::Hex(said.payload_sha256) + ", made here are " + desired.hash);
  if (said.not_before > now + identity::kClockSkew || said.not_after > now + kLongestValidity)
    return Refused(of + " is valid at a time that no controller gives; is this machine's clock right?");
  return Ok();
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// What stands between the common beginning and the common end: never less than what differs.
void AddDiff(const std::vector<std::string>& before, const std::vector<std::string>& after,
             std::string& out) {
  std::size_t head = 0, tail = 0;
  const std::size_t most = std::min(before.size(), after.size());
  while (head < most && before[head] == after[head]) ++head;
  while (tail < most - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  for (std::size_t i = head; i < before.size() - tail; ++i) out += "  - " + before[i] + "\n";
  for (std::size_t i = head; i < after.size() - tail; ++i) out += "  + " + after[i] + "\n";
}

std::map<std::string, std::pair<std::string, std::vector<std::string>>> ByDocument(
    const google::protobuf::RepeatedPtrField<v1::SourceFile>& files) {
  std::map<std::string, std::pair<std::string, std::vector<std::string>>> all;
  for (const v1::SourceFile& file : files)
    for (const Document& one : LoadDocuments(file.name(), file.text()).documents)
      all[one.id()] = {one.file, LinesOf(one.text)};
  return all;
}

}  // namespace

Result<SigningWork> CheckStatements(const SigningCase& asked, const CatalogDeclarations& catalog,
                                    const identity::PublicKey& key, identity::Time now) {
  SigningWork work;
  RW_ASSIGN_OR_RETURN(const auto remade, Remade(asked, catalog, work));
  std::set<std::string> nodes, uuids;
  work.valid_until = identity::Time::max();
  for (const v1::StatementToSign& one : asked.statements) {
    auto said = Statement::Decode(one.statement());
    if (!said.ok()) return Refused("node " + one.node() + ": " + said.status().message());
    if (!nodes.insert(one.node()).second || !uuids.insert(said->audience.Text()).second)
      return Refused("two statements are for one node: " + one.node() + ", " + said->audience.Text());
    if (work.cluster.empty()) work.cluster = said->cluster.text();
    if (said->cluster.text() != work.cluster)
      return Refused("the statement for node " + one.node() + " is for the cluster " + said->cluster.text() +
                     ", others are for " + work.cluster);
    const auto desired = remade.find(one.node());
    RW_RETURN_IF_ERROR(CheckOne(*said, one,
                                desired != remade.end() ? desired->second : RetiredDesired(one.node()),
                                asked.head.generation(), now));
    const auto& by = one.signed_by();
    if (std::find(by.begin(), by.end(), key.pin().Text()) != by.end()) {
      work.done.push_back(one.node());
      continue;
    }
    if (by.empty()) said->line = key.pin();
    RW_ASSIGN_OR_RETURN(std::string statement, said->Encode());
    work.valid_until = std::min(work.valid_until, said->not_after);
    work.to_sign.push_back(
        {one.node(), std::move(statement), static_cast<std::uint32_t>(by.size()), one.threshold()});
  }
  std::sort(work.to_sign.begin(), work.to_sign.end(),
            [](const auto& a, const auto& b) { return a.node < b.node; });
  return work;
}

std::string DocumentDiff(const v1::StatementsToSignEvent& head) {
  const auto before = ByDocument(head.documents_before()), after = ByDocument(head.documents());
  std::string text;
  for (const auto& [id, document] : after) {
    const auto was = before.find(id);
    if (was != before.end() && was->second.second == document.second) continue;
    text += (was == before.end() ? "added " : "changed ") + id + " (" + document.first + ")\n";
    AddDiff(was == before.end() ? std::vector<std::string>() : was->second.second, document.second, text);
  }
  for (const auto& [id, document] : before)
    if (!after.contains(id)) text += "removed " + id + " (" + document.first + ")\n";
  return text;
}

}  // namespace railwright::cli
