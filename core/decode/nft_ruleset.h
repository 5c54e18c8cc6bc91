// nftables rulesets: what `nft -j list ruleset` (0.9.3 to 1.0.x) prints, as plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright::nft {

/// How a packet's way through a chain goes on. kNone: not a verdict.
enum class VerdictKind : std::uint8_t { kNone, kAccept, kDrop, kReject, kJump, kGoto, kReturn, kContinue };

/// A value or a reference to packet data: the right and left of matches, elements of sets, keys of maps.
struct Expression {
  enum class Kind : std::uint8_t {
    kNull,          ///< JSON null, or nothing
    kText,          ///< name: "10.0.0.1", "established", "rail0"
    kNumber,        ///< number
    kBool,          ///< number 0 or 1
    kSetReference,  ///< name without the "@"
    kWildcard,      ///< "*": the default element of a set or map
    kList,          ///< parts: flags joined by "or" ("ct state established,related" in a match with op "in")
    kConcat,        ///< parts: fields joined by " . "
    kSet,           ///< parts: elements of an anonymous set; of a map: each a kPair
    kPair,          ///< parts[0] key, parts[1] value or kVerdict
    kPrefix,        ///< parts[0] address, number = length
    kRange,         ///< parts[0] low, parts[1] high, both included
    kPayload,       ///< scope = protocol ("udp", "th", "ip"), name = field ("dport")
    kRawPayload,    ///< scope = "ll" "nh" "th" "ih", number = offset, length = length, both in bits
    kMeta,          ///< name = key: "iifname", "l4proto", "nfproto"
    kCt,            ///< name = key: "state", "mark"; scope = direction or ""
    kBinary,        ///< name = operator (& | ^ << >>), parts[0], parts[1]
    kMap,           ///< parts[0] key, parts[1] data (kSet of pairs, or kSetReference)
    kVerdict,       ///< verdict; name = target of jump and goto
    kOther,         ///< name = the JSON key: "fib", "numgen", "socket", "exthdr" …
  };
  Kind kind = Kind::kNull;
  std::string name{};
  std::string scope{};
  std::int64_t number = 0;
  std::int64_t length = 0;
  VerdictKind verdict = VerdictKind::kNone;
  std::vector<Expression> parts{};
  friend bool operator==(const Expression&, const Expression&) = default;
};

/// One step of a rule. A rule goes on to its next statement only while each condition holds.
struct Statement {
  enum class Kind : std::uint8_t {
    kMatch,      ///< left, op, right. op: "==" "!=" "<" ">" "<=" ">=" "in" "!" or what a newer nft prints
    kVerdict,    ///< verdict; target for jump and goto; detail for reject: "icmpx admin-prohibited"
    kVmap,       ///< left = key, right = kSet of pairs or kSetReference of a map
    kLimit,      ///< rate per unit; over = true: holds only for packets beyond it
    kCounter,    ///< packets, bytes; never decides
    kNoEffect,   ///< log, notrack, mangle (left = right is set), set updates …: the packet goes on
    kCondition,  ///< quota, "ct count", meter: holds for some packets; which ones is not decoded
    kNat,        ///< snat dnat masquerade redirect tproxy
    kQueue,      ///< a program in user space decides
    kXt,         ///< an iptables match or target that nft cannot translate; detail = "match multiport"
    kOther,      ///< unknown to this build; may decide anything
  };
  Kind kind = Kind::kOther;
  std::string name{};  ///< JSON key: "match", "drop", "xt" …
  Expression left{};
  std::string op{};
  Expression right{};
  VerdictKind verdict = VerdictKind::kNone;
  std::string target{};
  std::string detail{};
  std::uint64_t rate = 0;   ///< of a limit, in `unit`
  std::uint64_t burst = 0;  ///< packets, or bytes
  std::string unit{};       ///< "packets/second", "mbytes/second"
  bool over = false;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const Statement&, const Statement&) = default;
};

struct Rule {
  std::int64_t handle = 0;  ///< names the rule in `nft delete rule … handle N`; 0 in transactions
  std::string comment{};
  std::vector<Statement> statements{};
  friend bool operator==(const Rule&, const Rule&) = default;
};

struct Chain {
  std::string name{};
  std::int64_t handle = 0;
  std::string type{};  ///< "filter" "nat" "route"; "" for a chain that is only jumped to
  std::string hook{};  ///< "prerouting" "input" "forward" "output" "postrouting" "ingress"; "" as above
  std::int64_t priority = 0;        ///< lower is seen first
  std::string policy;               ///< "accept" (also when not printed) or "drop"
  std::vector<std::string> devs{};  ///< of netdev and ingress chains
  std::vector<Rule> rules{};
  bool is_base() const { return !hook.empty(); }
  friend bool operator==(const Chain&, const Chain&) = default;
};

/// A named set or map.
struct Set {
  std::string name{};
  std::int64_t handle = 0;
  std::vector<std::string> key_types{};  ///< "ipv4_addr", "inet_service"; several for a concatenation
  std::string value_type{};              ///< of maps: "verdict", "mark" …; "" for sets
  std::vector<std::string> flags{};      ///< "interval", "timeout", "dynamic", "constant"
  std::vector<Expression> elements{};    ///< of maps: each a kPair
  bool is_map() const { return !value_type.empty(); }
  friend bool operator==(const Set&, const Set&) = default;
};

struct Table {
  std::string family{};  ///< "ip" "ip6" "inet" "arp" "bridge" "netdev"
  std::string name{};
  std::int64_t handle = 0;
  std::vector<std::string> flags{};  ///< "dormant", "owner" where printed
  std::vector<Chain> chains{};       ///< in the order printed
  std::vector<Set> sets{};           ///< sets and maps
  const Chain* FindChain(std::string_view chain) const;
  const Set* FindSet(std::string_view set) const;
  friend bool operator==(const Table&, const Table&) = default;
};

struct Ruleset {
  std::string version{};  ///< of nft, "1.0.6"; "" when not printed
  std::vector<Table> tables{};
  /// What was skipped: unknown kinds of object ("flowtable", "quota" …), each once, and objects that lacked
  /// what makes them readable ("rule without chain"). A judge that finds nothing else wrong should name them.
  std::vector<std::string> skipped{};
  const Table* FindTable(std::string_view family, std::string_view name) const;
};

/// Decodes `{"nftables":[…]}`, a bare array of such objects (what `/nft/table/…` answers), or a transaction
/// of add, create and insert commands. Unknown objects are skipped, unknown statements kept as kOther.
/// InvalidArgument, with the byte offset, for text that is no JSON, has another shape or nests deeper
/// than 64.
Result<Ruleset> DecodeRuleset(std::string_view json);

/// One spelling per meaning, close to nft's own: `iifname "rail0" udp dport { 4791, 18515-18530 } accept`.
/// Elements of sets are sorted; handles, counters and comments are left out.
std::string Text(const Expression& expression);
std::string Text(const Statement& statement);
std::string Text(const Rule& rule);
/// For operators: "table inet filter chain input handle 7: udp dport 4791 drop".
std::string Describe(const Table& table, const Chain& chain, const Rule& rule);

}  // namespace railwright::nft
