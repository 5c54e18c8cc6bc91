// status_text: error messages that fit where gRPC carries them. Pure.
#pragma once

#include <string>

namespace railwright {

/// A status travels in HTTP/2 headers, of which clients take 8 KiB: a longer message would reach them as
/// "received initial metadata size exceeds limit". Bytes of it as encoded there.
inline constexpr std::size_t kStatusTextMost = 4096;

/// `text` itself, or its first lines and how many more there are.
std::string FitStatusText(const std::string& text);

}  // namespace railwright
