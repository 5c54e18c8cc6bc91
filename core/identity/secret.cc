#include "core/identity/secret.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <utility>

namespace railwright::identity {

Secret::Secret(std::size_t size) : bytes_(std::make_unique<char[]>(size)), size_(size) {}

Secret::Secret(std::string_view bytes) : Secret(bytes.size()) {
  std::copy(bytes.begin(), bytes.end(), bytes_.get());
}

Secret::~Secret() { Wipe(); }

Secret::Secret(Secret&& other) noexcept
    : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this != &other) {
    Wipe();
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

void Secret::Wipe() {
  if (bytes_ != nullptr) OPENSSL_cleanse(bytes_.get(), size_);
  bytes_.reset();
  size_ = 0;
}

}  // namespace railwright::identity
