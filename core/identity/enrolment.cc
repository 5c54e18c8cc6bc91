#include "core/identity/enrolment.h"

#include <algorithm>

#include "core/identity/byte_order.h"
#include "core/identity/request.h"
#include "core/identity/signers.h"
#include "railwright/utf8.h"

namespace railwright::identity {
namespace {

constexpr std::string_view kMagic = "RWEN";
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kMostBodyBytes = kMostFrameBytes - kFrameHeadBytes;
constexpr std::uint8_t kJoin = 1, kRecover = 2, kWhy = 3, kIssued = 17, kJudged = 18, kRefused = 19;
constexpr std::size_t kMostName = 64, kMostBootId = 36, kMostEndpoints = 16;
constexpr std::size_t kMostEndpointText = 255;
constexpr std::size_t kMostSentence = 1024;
constexpr std::uint64_t kYear10000 = 253402300800;  // seconds since 1970

Status Bad(std::string_view what) {
  return Status(Code::kInvalidArgument, "not a message of the enrolment port: " + std::string(what));
}

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// What is written: the first field that is out of its range stops all.
class Body {
 public:
  explicit Body(std::uint8_t kind) { out_.Number(kind, 1); }
  void Number(std::uint64_t value, int bytes) { out_.Number(value, bytes); }
  void Text(std::string_view text, std::size_t least, std::size_t most, std::string_view what) {
    Need(text.size() >= least && text.size() <= most && IsPrintable(text), what);
    if (good()) out_.Text(text);
  }
  void Blob(std::string_view bytes, std::size_t least, std::size_t most, std::string_view what) {
    Need(bytes.size() >= least && bytes.size() <= std::min(most, kMostBodyBytes), what);
    if (!good()) return;
    out_.Number(bytes.size(), 2);
    out_.Raw(bytes);
  }
  void Raw(std::string_view bytes) { out_.Raw(bytes); }
  void Clock(Time at) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
    Need(seconds >= 0 && static_cast<std::uint64_t>(seconds) < kYear10000, "its clock");
    out_.Number(static_cast<std::uint64_t>(seconds), 8);
  }
  void Chain(const std::vector<Certificate>& chain, std::string_view what) {
    Need(!chain.empty() && chain.size() <= Certificate::kMostInChain, what);
    out_.Number(chain.size(), 1);
    for (const Certificate& one : chain) Blob(one.der(), 1, Certificate::kMostBytes, what);
  }
  void Endpoints(const std::vector<Endpoint>& all, std::string_view what) {
    Need(!all.empty() && all.size() <= kMostEndpoints, what);
    out_.Number(all.size(), 1);
    for (const Endpoint& one : all) Text(one.Text(), 1, kMostEndpointText, what);
  }
  void Need(bool fine, std::string_view what) {
    if (!fine && wrong_.empty()) wrong_ = what;
  }
  bool good() const { return wrong_.empty(); }
  Result<std::string> Done() && {
    if (!good()) return Bad(wrong_ + " is out of its range");
    std::string body = std::move(out_).Done();
    if (body.size() > kMostBodyBytes) return Bad("it is larger than 16 KiB");
    return body;
  }

 private:
  ByteWriter out_;
  std::string wrong_;
};

std::string Head(std::size_t body) {
  ByteWriter head;
  head.Raw(kMagic);
  head.Number(kVersion, 1);
  head.Number(body, 2);
  return std::move(head).Done();
}

Result<std::string> Framed(Body&& body) {
  RW_ASSIGN_OR_RETURN(const std::string bytes, std::move(body).Done());
  return Head(bytes.size()) + bytes;
}

// What is read: the first field that is wrong stops all.
class Reader {
 public:
  explicit Reader(std::string_view body) : in_(body) {}
  std::uint64_t Number(int bytes) { return in_.Number(bytes); }
  std::string_view View(std::size_t least, std::size_t most, std::string_view what) {
    const std::string_view text = in_.Text();
    Need(text.size() >= least && text.size() <= most && IsPrintable(text), what);
    return text;
  }
  std::string Text(std::size_t least, std::size_t most, std::string_view what) {
    return std::string(View(least, most, what));
  }
  std::string_view Blob(std::size_t least, std::size_t most, std::string_view what) {
    const std::string_view bytes = in_.Raw(in_.Number(2));
    Need(bytes.size() >= least && bytes.size() <= most, what);
    return bytes;
  }
  Digest Sha256() { return in_.Sha256(); }
  Time Clock() {
    const std::uint64_t seconds = in_.Number(8);
    Need(seconds < kYear10000, "its clock");
    return Time(std::chrono::seconds(good() ? static_cast<std::int64_t>(seconds) : 0));
  }
  std::vector<Certificate> Chain(std::string_view what) {
    const std::uint64_t count = in_.Number(1);
    Need(count >= 1 && count <= Certificate::kMostInChain, what);
    std::vector<Certificate> chain;
    for (std::uint64_t i = 0; good() && i < count; ++i) {
      auto one = Certificate::FromDer(Blob(1, Certificate::kMostBytes, what));
      if (one.ok())
        chain.push_back(std::move(one).value());
      else
        Need(false, std::string(what) + ": " + one.status().message());
    }
    return chain;
  }
  std::vector<Endpoint> Endpoints(std::string_view what) {
    const std::uint64_t count = in_.Number(1);
    Need(count >= 1 && count <= kMostEndpoints, what);
    std::vector<Endpoint> all;
    for (std::uint64_t i = 0; good() && i < count; ++i) {
      const std::string text = Text(1, kMostEndpointText, what);
      auto one = Endpoint::Parse(text);
      // One spelling: what Text gives.
      Need(one.ok() && one->Text() == text, what);
      if (good()) all.push_back(std::move(one).value());
    }
    return all;
  }
  Party Whose() {
    const std::uint64_t party = in_.Number(1);
    Need(party == 1 || party == 2, "whose it is");
    return party == 2 ? Party::kOperator : Party::kNode;
  }
  void Need(bool fine, std::string_view what) {
    if ((!fine || !in_.good()) && wrong_.empty()) wrong_ = in_.good() ? what : "it is cut short";
  }
  bool good() const { return wrong_.empty() && in_.good(); }
  /// Ok when all was read, all was right, and nothing stands behind it.
  Status End() {
    Need(true, "");
    Need(in_.left() == 0, "there is something behind it");
    return wrong_.empty() ? Ok() : Bad(wrong_);
  }

 private:
  ByteReader in_;
  std::string wrong_;
};

// What a reader would refuse is made readable: a sentence may quote a name, or an error of the system.
std::string Sentence(std::string_view text) {
  if (text.size() <= kMostSentence && IsPrintable(text)) return std::string(text);
  std::string sentence = Brief(text, kMostSentence);
  for (char& c : sentence)
    if (c < ' ' || c > '~') c = '?';
  sentence.resize(std::min(sentence.size(), kMostSentence));
  return sentence;
}

std::uint64_t Number(Party party) { return party == Party::kOperator ? 2 : 1; }

Result<EnrolmentRequest> ReadJoin(Reader& in) {
  // A view: the token is copied into a Secret and nowhere else.
  const std::string_view text = in.View(JoinToken::kChars, JoinToken::kChars, "its token");
  std::string name = in.Text(0, kMostName, "its name");
  std::string boot_id = in.Text(0, kMostBootId, "its boot id");
  const Digest machine = in.Sha256();
  std::string csr(in.Blob(1, kMostRequestBytes, "its certificate request"));
  RW_RETURN_IF_ERROR(in.End());
  auto token = JoinToken::Parse(text);
  if (!token.ok()) return Bad(token.status().message());
  return EnrolmentRequest(JoinRequest{.token = std::move(token).value(),
                                      .name = std::move(name),
                                      .boot_id = std::move(boot_id),
                                      .machine = machine,
                                      .csr = std::move(csr)});
}

Result<EnrolmentRequest> ReadRecover(Reader& in) {
  RecoverRequest request;
  request.party = in.Whose();
  request.id = in.Text(1, kMostName, "its name");
  request.renewals = in.Number(8);
  request.csr = in.Blob(1, kMostRequestBytes, "its certificate request");
  RW_RETURN_IF_ERROR(in.End());
  return EnrolmentRequest(std::move(request));
}

Result<EnrolmentRequest> ReadWhy(Reader& in) {
  WhyRequest request;
  request.clock = in.Clock();
  request.chain = in.Chain("its chain");
  RW_RETURN_IF_ERROR(in.End());
  return EnrolmentRequest(std::move(request));
}

Result<EnrolmentAnswer> ReadIssued(Reader& in) {
  const Party party = in.Whose();
  const auto cluster = ClusterName::Parse(in.Text(1, 63, "its cluster"));
  const std::string uuid = in.Text(0, kMostName, "its UUID");
  in.Need(party == Party::kNode ? NodeUuid::Parse(uuid).ok() : uuid.empty(), "its UUID");
  std::string name = in.Text(1, kMostName, "its name");
  const std::uint64_t renewals = in.Number(8);
  auto chain = in.Chain("its chain"), roots = in.Chain("its roots");
  const std::string_view signers_text = in.Blob(1, kMostSignersBytes, "its signers");
  auto controllers = in.Endpoints("its controllers"), enrolment = in.Endpoints("its enrolment ports");
  RW_RETURN_IF_ERROR(in.End());
  if (!cluster.ok()) return Bad(cluster.status().message());
  auto signers = ParseSigners(signers_text);
  // One spelling, here too.
  if (!signers.ok() || SignersText(*signers) != signers_text) return Bad("its signers");
  return EnrolmentAnswer(IssuedAnswer{.party = party,
                                      .cluster = *cluster,
                                      .uuid = uuid,
                                      .name = std::move(name),
                                      .renewals = renewals,
                                      .chain = std::move(chain),
                                      .roots = std::move(roots),
                                      .signers = std::move(signers).value(),
                                      .controllers = std::move(controllers),
                                      .enrolment = std::move(enrolment)});
}

Result<EnrolmentAnswer> ReadJudged(Reader& in) {
  JudgedAnswer answer;
  answer.clock = in.Clock();
  const std::uint64_t admitted = in.Number(1);
  in.Need(admitted <= 1, "its verdict");
  answer.admitted = admitted == 1;
  answer.sentence = in.Blob(0, kMostSentence, "its sentence");
  in.Need(IsPrintable(answer.sentence), "its sentence");
  RW_RETURN_IF_ERROR(in.End());
  return EnrolmentAnswer(std::move(answer));
}

Result<EnrolmentAnswer> ReadRefused(Reader& in) {
  RefusedAnswer answer;
  const std::uint64_t code = in.Number(1);
  in.Need(code >= 1 && code <= 16 && Name(static_cast<Code>(code)) != Name(Code::kUnknown), "its code");
  answer.code = static_cast<Code>(code);
  answer.sentence = in.Blob(1, kMostSentence, "its sentence");
  in.Need(IsPrintable(answer.sentence), "its sentence");
  RW_RETURN_IF_ERROR(in.End());
  return EnrolmentAnswer(std::move(answer));
}

Result<std::string> Written(const IssuedAnswer& answer) {
  Body body(kIssued);
  body.Need(answer.party != Party::kController, "whose it is");
  body.Need(answer.party == Party::kNode ? NodeUuid::Parse(answer.uuid).ok() : answer.uuid.empty(),
            "its UUID");
  body.Number(Number(answer.party), 1);
  body.Text(answer.cluster.text(), 1, 63, "its cluster");
  body.Text(answer.uuid, 0, kMostName, "its UUID");
  body.Text(answer.name, 1, kMostName, "its name");
  body.Number(answer.renewals, 8);
  body.Chain(answer.chain, "its chain");
  body.Chain(answer.roots, "its roots");
  body.Need(CheckSigners(answer.signers).ok(), "its signers");
  body.Blob(SignersText(answer.signers), 1, kMostSignersBytes, "its signers");
  body.Endpoints(answer.controllers, "its controllers");
  body.Endpoints(answer.enrolment, "its enrolment ports");
  return Framed(std::move(body));
}

Result<std::string> Written(const JudgedAnswer& answer) {
  Body body(kJudged);
  body.Clock(answer.clock);
  body.Number(answer.admitted ? 1 : 0, 1);
  body.Blob(Sentence(answer.sentence), 0, kMostSentence, "its sentence");
  return Framed(std::move(body));
}

Result<std::string> Written(const RefusedAnswer& answer) {
  Body body(kRefused);
  body.Need(answer.code != Code::kOk && answer.code != Code::kUnknown, "its code");
  body.Number(static_cast<std::uint64_t>(answer.code), 1);
  body.Blob(Sentence(answer.sentence), 1, kMostSentence, "its sentence");
  return Framed(std::move(body));
}

}  // namespace

Result<std::size_t> BodyBytes(std::string_view head) {
  ByteReader in(head);
  if (in.Raw(kMagic.size()) != kMagic) return Bad("it begins like another protocol");
  const std::uint64_t version = in.Number(1), size = in.Number(2);
  if (!in.good() || in.left() != 0) return Bad("its head is cut short");
  if (version != kVersion)
    return Bad("its version is " + std::to_string(version) + ", this program knows " +
               std::to_string(kVersion));
  if (size < 1 || size > kMostBodyBytes)
    return Bad("a body of " + std::to_string(size) + " bytes; allowed: 1 to " +
               std::to_string(kMostBodyBytes));
  return size;
}

Result<Secret> Encode(const JoinRequest& request) {
  Body behind(0);
  behind.Text(request.name, 0, kMostName, "its name");
  behind.Text(request.boot_id, 0, kMostBootId, "its boot id");
  behind.Raw(Bytes(request.machine));
  behind.Blob(request.csr, 1, kMostRequestBytes, "its certificate request");
  RW_ASSIGN_OR_RETURN(const std::string rest, std::move(behind).Done());
  const std::string_view fields = std::string_view(rest).substr(1);  // without the kind
  const Secret token = request.token.Text();
  const std::size_t body = 2 + token.size() + fields.size();
  const std::string head = Head(body);
  // Put together in place: no string that grows leaves a copy of the token behind.
  Secret frame(head.size() + body);
  char* out = std::copy(head.begin(), head.end(), frame.Writable().data());
  *out++ = static_cast<char>(kJoin);
  *out++ = static_cast<char>(token.size());
  out = std::copy(token.Reveal().begin(), token.Reveal().end(), out);
  std::copy(fields.begin(), fields.end(), out);
  return frame;
}

Result<std::string> Encode(const RecoverRequest& request) {
  Body body(kRecover);
  body.Need(request.party != Party::kController, "whose it is");
  body.Number(Number(request.party), 1);
  body.Text(request.id, 1, kMostName, "its name");
  body.Number(request.renewals, 8);
  body.Blob(request.csr, 1, kMostRequestBytes, "its certificate request");
  return Framed(std::move(body));
}

Result<std::string> Encode(const WhyRequest& request) {
  Body body(kWhy);
  body.Clock(request.clock);
  body.Chain(request.chain, "its chain");
  return Framed(std::move(body));
}

Result<std::string> Encode(const EnrolmentAnswer& answer) {
  return std::visit([](const auto& one) { return Written(one); }, answer);
}

Result<EnrolmentRequest> DecodeRequest(std::string_view body) {
  if (body.size() > kMostBodyBytes) return Bad("it is larger than 16 KiB");
  Reader in(body);
  switch (in.Number(1)) {
    case kJoin: return ReadJoin(in);
    case kRecover: return ReadRecover(in);
    case kWhy: return ReadWhy(in);
    default: return Bad("it asks for nothing that is known");
  }
}

Result<EnrolmentAnswer> DecodeAnswer(std::string_view body) {
  if (body.size() > kMostBodyBytes) return Bad("it is larger than 16 KiB");
  Reader in(body);
  switch (in.Number(1)) {
    case kIssued: return ReadIssued(in);
    case kJudged: return ReadJudged(in);
    case kRefused: return ReadRefused(in);
    default: return Bad("it is no answer that is known");
  }
}

}  // namespace railwright::identity
