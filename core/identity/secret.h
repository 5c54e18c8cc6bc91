// Secret: bytes that are wiped when they are let go.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace railwright::identity {

/// Bytes of a private key or a token. It is moved, never copied; what it held is overwritten
/// (OPENSSL_cleanse) when it ends. There is no way to print or log it but by asking for `Reveal`, which
/// reviewers look for.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::size_t size);
  /// Copies `bytes`; the caller's own are the caller's to wipe.
  explicit Secret(std::string_view bytes);
  ~Secret();
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// The bytes, for as long as this lives.
  std::string_view Reveal() const { return {bytes_.get(), size_}; }
  std::span<char> Writable() { return {bytes_.get(), size_}; }

 private:
  void Wipe();

  // Not std::string: a moved short string leaves its bytes behind.
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
};

}  // namespace railwright::identity
