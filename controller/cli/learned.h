// Learned: what several nodes have in common, setting by setting, and where they differ. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "controller/fleet/resolve.h"
#include "railwright/catalog.h"
#include "railwright/v1/admin.pb.h"

namespace railwright::cli {

/// Where something was seen.
struct SeenAt {
  std::string node;
  std::string port;  ///< "" = the node itself
  auto operator<=>(const SeenAt&) const = default;
};

/// One answer to one question, and everybody who gave it.
struct SameAnswer {
  enum class Kind : std::uint8_t {
    kWish,           ///< `text` is what a profile says to have it so
    kNotSet,         ///< there is nothing
    kUnsayable,      ///< `text` was read, and no profile can ask for it: `why`
    kNotApplicable,  ///< `text` is the reason's word, `why` the sentence
    kUnread,         ///< the same
  };
  Kind kind = Kind::kWish;
  std::string text, why;
  std::vector<SeenAt> places;  ///< sorted
};

struct LearnedSetting {
  enum class Agreement : std::uint8_t {
    kAgreed,         ///< every place to which it applies has `value`
    kByPort,         ///< the ports differ, each is the same on all nodes: `by_port`
    kDiffers,        ///< the nodes differ
    kNotSet,         ///< nobody has it
    kUnsayable,      ///< nobody has what a profile could ask for
    kNotApplicable,  ///< nowhere to be had
    kUnread,         ///< could not be read somewhere: no evidence
    kDeclared,       ///< `declared_by` asks for it already
  };
  std::string key;
  TargetKind targets = TargetKind::kNode;
  Agreement agreement = Agreement::kUnread;
  std::string value;  ///< of kAgreed; of kDiffers and kUnread the majority's, "" when there is none
  std::map<std::string, std::string> by_port;
  std::vector<SameAnswer> answers;  ///< what most places say first; kNotApplicable and kUnread last
  std::string declared_by;          ///< "Profile/roce-lossless"
};

/// `nodes` are the answers of the nodes that are learned from; of a port's settings only those of fabric
/// ports count, since no others are ever written. What another profile than `own` ("Profile/learned") asks of
/// a node of `declared_for` is not learned: two profiles that set one key are a conflict. Sorted by key.
std::vector<LearnedSetting> Learn(const std::vector<v1::ObservedNode>& nodes,
                                  const CatalogDeclarations& catalog, const Resolved& in_force,
                                  const std::vector<std::string>& declared_for, const std::string& own);

/// "gpu-[001-003]", "gpu-004 rail1", for people; a node all of whose places of `all` are in `places` is named
/// alone.
std::string PlacesText(const std::vector<SeenAt>& places, const std::vector<SeenAt>& all);

}  // namespace railwright::cli
