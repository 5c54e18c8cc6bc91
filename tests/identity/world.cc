#include "tests/identity/world.h"

namespace railwright::identity {

Time Noon() { return Time(std::chrono::seconds(1796119200)); }
ClusterName Cluster(std::string_view name) { return Must(ClusterName::Parse(name)); }
NodeUuid Uuid(int last) {
  std::string text = "0f8fad5b-d9cb-469f-a165-70867728950";
  return Must(NodeUuid::Parse(text + std::to_string(last)));
}
PrivateKey NewKey(KeyKind kind) { return Must(PrivateKey::Generate(kind)); }
Issuer NewRoot(Time now, CaTerms terms, std::string_view cluster) {
  return Must(Issuer::SelfSigned(Cluster(cluster), NewKey(), now, terms));
}
const Issuer& Root() {
  static const Issuer root = NewRoot();
  return root;
}
const PublicKey& NodeKey() {
  static const PublicKey key = NewKey().public_key();
  return key;
}
Certificate NodeLeaf(Time now) { return Must(Root().Node(NodeKey(), Uuid(), now)); }
Expected Clients(std::string_view cluster) {
  return {.cluster = Cluster(cluster), .purpose = Purpose::kClient};
}
Expected Servers() { return {.cluster = Cluster(), .purpose = Purpose::kServer}; }

}  // namespace railwright::identity
