// /nft: the ruleset as `nft` lists it, run again only when the kernel's generation has moved.
#include <arpa/inet.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <optional>

#include "agent/machine/backend.h"
#include "agent/machine/kept_listing.h"
#include "agent/machine/netlink_socket.h"
#include "agent/machine/nft_document.h"
#include "agent/machine/paths.h"
#include "agent/tools/tools.h"
#include "core/files/descriptor.h"

namespace railwright::machine {
namespace {

constexpr char kNft[] = "/usr/sbin/nft";
/// A listing of 100,000 set elements takes about a second; nft waits for no device.
constexpr std::chrono::seconds kDeadline{30};
constexpr int kListAttempts = 4;

std::string FirstLine(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  constexpr std::string_view kNoise = "Error: ";
  const auto at = text.find(kNoise);
  return std::string(at == std::string_view::npos ? text : text.substr(at + kNoise.size()));
}

/// nft tells errors only by text; the errno words in it are libc's, in the C locale.
Status FromNft(const ToolResult& result, std::string_view path) {
  struct Known {
    std::string_view words;
    int error;
  };
  constexpr Known kKnown[] = {{"No such file or directory", ENOENT},
                              {"Operation not permitted", EPERM},
                              {"Operation not supported", EOPNOTSUPP},
                              {"Device or resource busy", EBUSY},
                              {"File exists", EEXIST},
                              {"No buffer space", ENOSPC}};
  const std::string said =
      std::string(path) + ": nft: " + FirstLine(result.err.empty() ? result.out : result.err);
  for (const Known& one : kKnown)
    if (result.err.find(one.words) != std::string::npos) return Status(CodeOf(one.error), said, one.error);
  return Status(Code::kInvalidArgument, said, EINVAL);
}

/// NotFound is an answer about a table. That nft is missing, or could not look, is none, and must not read
/// like it.
Status CouldNotLook(const Status& status) {
  if (status.code() != Code::kNotFound) return status;
  return Status(Code::kFailedPrecondition, status.message() + "; is the package nftables whole?",
                status.error_number());
}

/// "nft <cookie> <generation>": the network namespace of the calling thread, by the number that the kernel
/// never gives twice in a boot, and its ruleset's generation promise the same ruleset, as they do to a
/// program that keeps the listing in memory. "" when the kernel does not tell (cookies since Linux 5.14).
std::string RulesetOf(std::uint32_t generation) {
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  if (!socket || ::getsockopt(socket.get(), SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size) != 0) return {};
  return "nft " + std::to_string(cookie) + " " + std::to_string(generation);
}

class Nft final : public Backend {
 public:
  explicit Nft(std::string ruleset_file) : kept_(std::move(ruleset_file)) {}

  Result<std::string> Get(std::string_view path) override {
    const auto parts = PathParts(path, 4);
    if (path == "/nft/generation") {
      RW_ASSIGN_OR_RETURN(const std::uint32_t generation, Generation(path));
      return std::to_string(generation);
    }
    if (path == "/nft/ruleset") {
      RW_RETURN_IF_ERROR(Refresh(path));
      return listing_;
    }
    if (parts.size() != 4 || parts[1] != "table") return NoSuchPath(path);
    RW_RETURN_IF_ERROR(Refresh(path));
    RW_ASSIGN_OR_RETURN(const NftTables* tables, Tables(path));
    const auto found = tables->find({std::string(parts[2]), std::string(parts[3])});
    if (found == tables->end()) return FromErrno(ENOENT, path);
    return found->second;
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    const auto parts = PathParts(path, 4);
    if (parts.size() == 1) return std::vector<std::string>{"generation", "ruleset", "table"};
    if (parts[1] != "table" || parts.size() > 3) return NoSuchPath(path);
    RW_RETURN_IF_ERROR(Refresh(path));
    RW_ASSIGN_OR_RETURN(const NftTables* tables, Tables(path));
    std::vector<std::string> names;
    for (const auto& [key, text] : *tables) {
      if (parts.size() == 2) names.push_back(key.first);
      if (parts.size() == 3 && key.first == parts[2]) names.push_back(key.second);
    }
    return Sorted(std::move(names));
  }

  Status Set(std::string_view path, std::string_view value) override {
    const auto parts = PathParts(path, 4);
    if (parts.size() != 4 || parts[1] != "table") return NoSuchPath(path);
    const NftTableName table{std::string(parts[2]), std::string(parts[3])};
    const Result<std::string> present = Get(path);
    if (!present.ok() && present.status().code() != Code::kNotFound) return present.status();
    if (value.empty() && !present.ok()) return Ok();
    Result<std::string> document = value.empty() ? DeleteTable(table) : Transaction(value, table);
    if (!document.ok()) return document.status().Within(path);
    const Result<ToolResult> result = RunTool({kNft, "-j", "-f", "-"}, *document, kDeadline);
    listed_.reset();
    if (!result.ok()) return CouldNotLook(result.status()).Within(path);
    return result->exit_code == 0 ? Ok() : FromNft(*result, path);
  }

 private:
  /// The number that every committed transaction raises (NFT_MSG_GETGEN).
  Result<std::uint32_t> Generation(std::string_view path) {
    NetlinkMessage message(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN, 0);
    message.Header(nfgenmsg{AF_UNSPEC, NFNETLINK_V0, 0});
    const auto replies = socket_.Ask(message, path);
    if (!replies.ok()) {
      // A kernel without nf_tables knows no such subsystem (EINVAL), without nfnetlink no such protocol.
      const int error = replies.status().error_number();
      if (error == EINVAL || error == EPROTONOSUPPORT || error == EOPNOTSUPP)
        return Status(Code::kUnimplemented, std::string(path) + ": this kernel has no nf_tables", error);
      return replies.status();
    }
    std::optional<std::uint32_t> generation;
    for (const NetlinkReply& reply : *replies)
      ForEachAttribute(reply.AfterHeader(sizeof(nfgenmsg)), [&](const NetlinkAttribute& attribute) {
        if (attribute.type == NFTA_GEN_ID) generation = ntohl(attribute.U32());
      });
    if (!generation)
      return Status(Code::kInternal, std::string(path) + ": no generation in the kernel's answer");
    return *generation;
  }

  /// Lists anew unless the listing at hand is of the present generation. A listing counts only when the
  /// generation was the same before and after it.
  Status Refresh(std::string_view path) {
    RW_ASSIGN_OR_RETURN(std::uint32_t before, Generation(path));
    if (listed_ == before) return Ok();
    listed_.reset();
    tables_.reset();
    if (auto kept = kept_.Read(RulesetOf(before))) {
      listing_ = std::move(*kept);
      listed_ = before;
      return Ok();
    }
    for (int attempt = 0; attempt < kListAttempts; ++attempt) {
      Result<ToolResult> result = RunTool({kNft, "-j", "list", "ruleset"}, {}, kDeadline);
      if (!result.ok()) return CouldNotLook(result.status()).Within(path);
      if (result->exit_code != 0) return CouldNotLook(FromNft(*result, path));
      RW_ASSIGN_OR_RETURN(const std::uint32_t after, Generation(path));
      if (before == after) {
        listing_ = std::move(result->out);
        listing_.resize(listing_.find_last_not_of('\n') + 1);
        listed_ = after;
        kept_.Write(RulesetOf(after), listing_);
        return Ok();
      }
      before = after;
    }
    return Status(Code::kUnavailable, std::string(path) + ": the ruleset kept changing while it was listed",
                  EAGAIN);
  }

  /// The listing split by table, once per listing.
  Result<const NftTables*> Tables(std::string_view path) {
    if (!tables_) {
      Result<NftTables> split = SplitByTable(listing_);
      if (!split.ok()) return split.status().Within(path);
      tables_ = std::move(*split);
    }
    return &*tables_;
  }

  NetlinkSocket socket_{NETLINK_NETFILTER};
  const KeptListing kept_;
  std::optional<std::uint32_t> listed_;  // generation of listing_
  std::string listing_;
  std::optional<NftTables> tables_;
};

}  // namespace

std::unique_ptr<Backend> MakeNft(std::string ruleset_file) {
  return std::make_unique<Nft>(std::move(ruleset_file));
}

}  // namespace railwright::machine
