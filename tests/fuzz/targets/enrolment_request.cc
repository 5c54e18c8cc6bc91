// What strangers send to the enrolment port. First byte: 'f' a frame, 'c' a certificate request; else a body.
#include <variant>

#include "core/identity/enrolment.h"
#include "core/identity/request.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;
using namespace railwright::identity;

namespace {

std::string Encoded(const JoinRequest& request) {
  const auto frame = Encode(request);
  return frame.ok() ? std::string(frame->Reveal()) : std::string();
}
std::string Encoded(const RecoverRequest& request) { return Encode(request).value_or(""); }
std::string Encoded(const WhyRequest& request) { return Encode(request).value_or(""); }

void ABody(std::string_view body) {
  const auto request = DecodeRequest(body);
  if (!request.ok()) {
    ALWAYS(request.status().code() == Code::kInvalidArgument, body, request.status().ToString());
    return;
  }
  // One message, one encoding.
  const std::string frame = std::visit([](const auto& one) { return Encoded(one); }, *request);
  ALWAYS(frame.size() == kFrameHeadBytes + body.size(), body, frame);
  ALWAYS(std::string_view(frame).substr(kFrameHeadBytes) == body, body, frame);
  const auto size = BodyBytes(std::string_view(frame).substr(0, kFrameHeadBytes));
  ALWAYS(size.ok() && *size == body.size(), body, frame);
}

void AFrame(std::string_view frame) {
  const auto size = BodyBytes(frame.substr(0, kFrameHeadBytes));
  if (!size.ok()) return;
  ALWAYS(*size >= 1 && *size + kFrameHeadBytes <= kMostFrameBytes, frame);
  if (frame.size() >= kFrameHeadBytes + *size) ABody(frame.substr(kFrameHeadBytes, *size));
}

void ACertificateRequest(std::string_view der) {
  const auto key = ReadCertificateRequest(der);
  if (!key.ok()) {
    ALWAYS(key.status().code() == Code::kInvalidArgument, der, key.status().ToString());
    return;
  }
  ALWAYS(key->kind() == KeyKind::kP256, der);
  // The key stands in it: nothing else was made up.
  ALWAYS(der.find(key->der()) != std::string_view::npos, der);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  switch (input.Byte()) {
    case 'f': AFrame(input.Rest()); break;
    case 'c': ACertificateRequest(input.Rest()); break;
    default: ABody(input.Rest());
  }
  return 0;
}
