#include "core/identity/pem.h"

#include <openssl/pem.h>

#include <limits>

#include "core/identity/openssl.h"

namespace railwright::identity {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

Status Bad(std::string_view label, std::string_view why) {
  return Status(Code::kInvalidArgument, "not a PEM text of " + std::string(label) + ": " + std::string(why));
}

// What PEM_read_bio_ex hands out, wiped when it is let go.
struct Block {
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    OPENSSL_secure_free(name);
    OPENSSL_secure_free(header);
    OPENSSL_secure_clear_free(data, static_cast<std::size_t>(size));
  }
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
};

}  // namespace

Result<std::vector<Secret>> ReadPem(std::string_view text, const PemBounds& bounds) {
  const ErrorScope errors;
  if (text.size() > bounds.bytes || bounds.bytes > std::numeric_limits<int>::max())
    return Bad(bounds.label,
               std::to_string(text.size()) + " bytes, at most " + std::to_string(bounds.bytes) + " are read");
  std::vector<Secret> blocks;
  while (true) {
    const std::size_t start = text.find_first_not_of(kBlank);
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    if (!text.starts_with("-----BEGIN ")) return Bad(bounds.label, "there is text outside the blocks");
    if (blocks.size() == bounds.blocks)
      return Bad(bounds.label,
                 "more than " + std::to_string(bounds.blocks) + (bounds.blocks == 1 ? " block" : " blocks"));
    const Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    Block block;
    // PEM_FLAG_SECURE: OpenSSL wipes its lines, too; else they would stay in freed memory.
    if (bio == nullptr || PEM_read_bio_ex(bio.get(), &block.name, &block.header, &block.data, &block.size,
                                          PEM_FLAG_SECURE | PEM_FLAG_EAY_COMPATIBLE) != 1)
      return Bad(bounds.label, "a block is cut short or not base64");
    if (block.name != bounds.label) return Bad(bounds.label, "a block says that it is something else");
    if (*block.header != '\0') return Bad(bounds.label, "a block has headers; encrypted PEM is not read");
    blocks.emplace_back(
        std::string_view(reinterpret_cast<const char*>(block.data), static_cast<std::size_t>(block.size)));
    text.remove_prefix(text.size() - BIO_ctrl_pending(bio.get()));
  }
  if (blocks.empty()) return Bad(bounds.label, "it is empty");
  return blocks;
}

Result<Secret> WritePem(std::string_view label, std::string_view der) {
  const ErrorScope errors;
  // A memory BIO grows and ends by wiping what it held.
  const Bio bio(BIO_new(BIO_s_mem()));
  const std::string name(label);
  if (bio == nullptr ||
      PEM_write_bio(bio.get(), name.c_str(), "", Unsigned(der), static_cast<long>(der.size())) <= 0)
    return errors.Failure("writing PEM");
  char* out = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &out);
  return Secret(std::string_view(out, static_cast<std::size_t>(size)));
}

}  // namespace railwright::identity
