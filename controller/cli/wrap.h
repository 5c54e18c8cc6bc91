// Wrap: a paragraph in lines of bounded width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace railwright::cli {

/// Columns of a paragraph, indent not counted: what is read without turning the head, on any terminal.
inline constexpr std::size_t kParagraph = 88;

/// The words of `text` in lines of at most `width` columns, each behind `indent` and ended by a newline. A
/// longer word stands alone.
std::string Wrap(std::string_view text, std::string_view indent, std::size_t width = kParagraph);

}  // namespace railwright::cli
