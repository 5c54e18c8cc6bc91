#include "core/spec/yaml_tree.h"

#include <libfyaml.h>

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>
#include <utility>

namespace railwright::spec {

namespace {

using Kind = YamlNode::Kind;

// Not fy_diag_unref: only this one frees the collected errors (0.7.12).
struct DiagDestroy {
  void operator()(fy_diag* diag) const { fy_diag_destroy(diag); }
};
struct ParserDestroy {
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};

// libfyaml would print to stderr; everything is collected instead (fy_diag_set_collect_errors).
void Discard(fy_diag*, void*, const char*, size_t) {}

struct IteratorDestroy {
  void operator()(fy_token_iter* iterator) const { fy_token_iter_destroy(iterator); }
};

// The text of a scalar, escapes resolved, or why it cannot be had: libfyaml 0.7.12 reads two kinds of text
// wrong. Of the first one it also loses memory, so it is not even asked; for any other its two ways to a text
// must agree (compared with another reader over 30,000 texts: where they agreed, they were right).
std::string TextOf(fy_token* token, fy_scalar_style style, std::string_view source, std::string& text) {
  if (style == FYSS_SINGLE_QUOTED) {
    const fy_mark *start = fy_token_start_mark(token), *end = fy_token_end_mark(token);
    if (start != nullptr && end != nullptr && start->input_pos <= end->input_pos &&
        end->input_pos <= source.size() &&
        source.substr(start->input_pos, end->input_pos - start->input_pos).find("''''") !=
            std::string_view::npos)
      return "two doubled quotes in a row are not read reliably; put this text in \" instead of '";
  }
  std::size_t length = 0;
  const char* bytes = fy_token_get_text(token, &length);
  if (bytes != nullptr) text.assign(bytes, length);
  if (style != FYSS_SINGLE_QUOTED && style != FYSS_FOLDED) return {};
  std::string other;
  const std::unique_ptr<fy_token_iter, IteratorDestroy> iterator(fy_token_iter_create(token));
  int error = 0;
  const fy_iter_chunk* chunk = nullptr;
  while (iterator != nullptr && (chunk = fy_token_iter_chunk_next(iterator.get(), chunk, &error)) != nullptr)
    other.append(chunk->str, chunk->len);
  if (error == 0 && other == text) return {};
  return style == FYSS_FOLDED ? "a folded text (>) with blank lines around lines that are indented further "
                                "is not read reliably; "
                                "use a literal one (|)"
                              : "this text is not read reliably; put it in \" instead of '";
}

int CharactersOf(std::string_view text) {
  return static_cast<int>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// libfyaml's sentence → ours, which says what to do. The first match counts; what matches none is passed on.
struct Wording {
  std::string_view theirs, ours;
};
constexpr std::string_view kTab = "a tab in the indentation; indent with blanks";
constexpr std::string_view kIndent =
    "this fits neither what is above it nor a level further out; check the indentation";
constexpr std::string_view kNoColon =
    "no \": \" after this key, or the lines below it are not indented alike";
constexpr std::string_view kOneLine =
    "a second key or list on this line; begin a new line, or put quotes around a value that contains \": \"";
constexpr std::array kWordings{
    Wording{"tab character", kTab},
    Wording{"tabs", kTab},
    Wording{"use tab", kTab},
    Wording{"invalid tab", kTab},
    Wording{"mismatched flow", "this bracket closes none that is open"},
    Wording{"extra closing", "a closing bracket that was never opened"},
    Wording{"invalid indentation in mapping", kIndent},
    Wording{"indent for", kIndent},
    Wording{"wrong indendation", kIndent},
    Wording{"did not find expected key", kIndent},
    Wording{"did not find expected '-'", kIndent},
    Wording{"at the end of block sequence", kIndent},
    Wording{"block sequence entries not allowed", kIndent},
    Wording{"illegal block entry", kIndent},
    Wording{"invalid value after mapping", kNoColon},
    Wording{"multiline", kNoColon},
    Wording{"could not find expected ':'", kNoColon},
    Wording{"on the same line", kOneLine},
    Wording{"on same line", kOneLine},
    Wording{"plain scalar cannot start", "a value cannot start with this character; put quotes around it"},
    Wording{"double-quoted scalar without closing quote", "a text in \" is never closed"},
    Wording{"single-quoted scalar without closing quote", "a text in ' is never closed"},
    Wording{"trailing content after",
            "something follows the closing quote; put quotes around the whole value"},
    Wording{"invalid escape",
            "an escape that YAML does not know; write \\\\ for a backslash, or put the text in ' instead"},
    Wording{"invalid comment", "a comment needs a blank before its \"#\""},
};

class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, int first_line, Problems& problems)
      : source_(text), first_line_(first_line), problems_(problems), last_{first_line, 1} {
    if (text.ends_with('\n')) text.remove_suffix(1);
    end_ = {first_line + static_cast<int>(std::count(text.begin(), text.end(), '\n')),
            CharactersOf(text.substr(text.rfind('\n') + 1)) + 1};
  }

  // False: give up on this document.
  bool Take(fy_event* event);
  void TakeErrors(fy_diag* diag);
  std::optional<YamlNode> Root() {
    if (!root_ || broken_) return std::nullopt;
    return std::move(root_);
  }
  bool has_root() const { return root_.has_value(); }

 private:
  Place PlaceOf(const fy_mark* mark) const {
    return mark == nullptr ? last_ : Place{mark->line + first_line_, mark->column + 1};
  }
  bool Fail(Place place, std::string message, int width = 1) {
    problems_.Add(place, std::move(message), width);
    broken_ = true;
    return false;
  }
  void Refuse(fy_token* token, std::string_view what, bool indicator) {
    if (token == nullptr) return;
    Place place = PlaceOf(fy_token_start_mark(token));
    // The token of an anchor or alias begins after its "&" or "*".
    if (indicator && place.column > 1) --place.column;
    problems_.Add(place, std::string(what));  // the rest of the document is still worth reading
  }
  bool Scalar(fy_event* event);
  bool Close();
  bool Put(YamlNode node);
  void RefuseDuplicates(YamlNode& map);

  std::string_view source_;
  int first_line_;
  Problems& problems_;
  Place last_;  // of what was read last
  Place end_;   // just after the document's last character
  std::vector<YamlNode> open_;
  std::optional<YamlNode> root_;
  std::size_t nodes_ = 0;
  bool broken_ = false;
};

bool TreeBuilder::Take(fy_event* event) {
  switch (event->type) {
    case FYET_DOCUMENT_START:
      if (root_)
        return Fail(PlaceOf(fy_event_start_mark(event)), "a second document without \"---\" before it");
      return true;
    case FYET_ALIAS:
      Refuse(event->alias.anchor, "an alias (*name) is not accepted; write the value out", true);
      return Put({.refused = true, .place = PlaceOf(fy_event_start_mark(event))});
    case FYET_SCALAR: return Scalar(event);
    case FYET_SEQUENCE_START:
    case FYET_MAPPING_START: {
      const bool list = event->type == FYET_SEQUENCE_START;
      Refuse(fy_event_get_anchor_token(event),
             "an anchor (&name) is not accepted; write the value where it is needed", true);
      Refuse(fy_event_get_tag_token(event), "a tag (!name) is not accepted; the field decides the type",
             false);
      YamlNode node{.kind = list ? Kind::kList : Kind::kMap, .place = PlaceOf(fy_event_start_mark(event))};
      node.flow = fy_event_get_node_style(event) == FYNS_FLOW;
      last_ = node.place;
      if (open_.size() == kMostNesting)
        return Fail(node.place,
                    "lists and maps are nested deeper than " + std::to_string(kMostNesting) + " levels");
      open_.push_back(std::move(node));
      return true;
    }
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END: return Close();
    default: return true;
  }
}

bool TreeBuilder::Scalar(fy_event* event) {
  Refuse(event->scalar.anchor, "an anchor (&name) is not accepted; write the value where it is needed", true);
  Refuse(event->scalar.tag, "a tag (!name) is not accepted; the field decides the type", false);
  fy_token* token = event->scalar.value;
  YamlNode node{.place = PlaceOf(token == nullptr ? nullptr : fy_token_start_mark(token))};
  const fy_scalar_style style = token == nullptr ? FYSS_PLAIN : fy_token_scalar_style(token);
  const std::string unreliable = token == nullptr ? std::string() : TextOf(token, style, source_, node.text);
  if ((style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED) && node.place.column > 1)
    --node.place.column;
  node.nothing = style == FYSS_PLAIN && node.text.empty();
  if (node.nothing && token != nullptr) node.place = last_;
  if (style != FYSS_LITERAL && style != FYSS_FOLDED) {
    const int quotes = style == FYSS_PLAIN ? 0 : 2;
    node.width = std::max(1, CharactersOf(node.text) + quotes);
  }
  if (style == FYSS_DOUBLE_QUOTED) {
    // Escapes can make bytes that the file itself may not hold.
    if (BadBytes bad = FindBadBytes(node.text, 1); !bad.message.empty()) {
      problems_.Add(node.place, "an escape in this text makes " + bad.message, node.width);
      node.refused = true;
    }
  }
  if (!unreliable.empty()) {
    problems_.Add(node.place, unreliable, node.width);
    node.refused = true;
  }
  if (!node.nothing) last_ = node.place;
  return Put(std::move(node));
}

bool TreeBuilder::Close() {
  if (open_.empty()) return Fail(last_, "YAML: a list or map ends that never began");
  YamlNode node = std::move(open_.back());
  open_.pop_back();
  if (node.kind == Kind::kMap) RefuseDuplicates(node);
  return Put(std::move(node));
}

bool TreeBuilder::Put(YamlNode node) {
  if (++nodes_ > kMostNodes)
    return Fail(node.place, "more than " + std::to_string(kMostNodes) + " values in one document; split it");
  if (open_.empty()) {
    if (root_) return Fail(node.place, "a second document without \"---\" before it");
    root_ = std::move(node);
    return true;
  }
  YamlNode& parent = open_.back();
  const bool is_key = parent.kind == Kind::kMap && parent.items.size() % 2 == 0;
  if (is_key && node.kind != Kind::kScalar) {
    problems_.Add(node.place, "a key must be a text, found " + Describe(node));
    node = {.refused = true, .place = node.place};
  } else if (is_key && node.text.size() > kLongestKey) {
    problems_.Add(node.place, "a key has more than " + std::to_string(kLongestKey) + " bytes");
    node = {.refused = true, .place = node.place};
  } else if (is_key && node.text.empty() && !node.refused) {
    problems_.Add(node.place, "a key must not be empty");
  }
  parent.items.push_back(std::move(node));
  return true;
}

void TreeBuilder::RefuseDuplicates(YamlNode& map) {
  if (map.items.size() % 2 != 0) map.items.push_back({.nothing = true, .place = last_});
  std::unordered_map<std::string_view, Place> seen;
  seen.reserve(map.items.size() / 2);
  std::vector<std::size_t> doubled;
  for (std::size_t i = 0; i < map.items.size(); i += 2) {
    const YamlNode& key = map.items[i];
    const auto [first, fresh] = seen.emplace(key.text, key.place);
    if (fresh) continue;
    doubled.push_back(i);
    if (key.text.empty()) continue;  // already a problem
    problems_.Add(key.place,
                  "duplicate key \"" + key.text + "\" (first at " + std::to_string(first->second.line) + ":" +
                      std::to_string(first->second.column) + ")",
                  key.width);
  }
  if (doubled.empty()) return;
  std::vector<YamlNode> kept;
  for (std::size_t i = 0, next = 0; i < map.items.size(); i += 2) {
    if (next < doubled.size() && doubled[next] == i) {
      ++next;
      continue;
    }
    kept.push_back(std::move(map.items[i]));
    kept.push_back(std::move(map.items[i + 1]));
  }
  map.items = std::move(kept);
}

void TreeBuilder::TakeErrors(fy_diag* diag) {
  void* next = nullptr;
  bool any = false;
  while (fy_diag_error* error = fy_diag_errors_iterate(diag, &next)) {
    if (error->type != FYET_ERROR || any) continue;  // what follows the first one is its echo
    any = true;
    const std::string_view theirs = error->msg == nullptr ? "not readable" : error->msg;
    Place place{std::max(error->line, 1) - 1 + first_line_, std::max(error->column, 1)};
    const bool at_end = place.line > end_.line;
    if (at_end) place = end_;
    std::string ours = "YAML: " + std::string(theirs);
    for (const auto& [needle, words] : kWordings)
      if (theirs.find(needle) != std::string_view::npos) {
        ours = words;
        break;
      }
    const bool no_comma = theirs.find("missing comma") != std::string_view::npos;
    const auto open = std::find_if(open_.rbegin(), open_.rend(), [](const YamlNode& n) { return n.flow; });
    if (open != open_.rend()) {
      const std::string bracket = open->kind == Kind::kList ? "\"[\"" : "\"{\"";
      if (theirs.find("without a closing") != std::string_view::npos || (no_comma && at_end)) {
        // Where it was opened tells more than where the file ends.
        place = open->place;
        ours = "this " + bracket + " is never closed";
      } else if (no_comma) {
        ours = "no comma before this, or the " + bracket + " at " + std::to_string(open->place.line) + ":" +
               std::to_string(open->place.column) + " is never closed";
      }
    }
    // The mark of a quoted text is after its quote.
    if (theirs.find("without closing quote") != std::string_view::npos && place.column > 1) --place.column;
    problems_.Add(place, std::move(ours));
  }
  if (!any) problems_.Add(last_, "YAML: not readable from here on");
  broken_ = true;
}

}  // namespace

std::optional<YamlNode> ParseYaml(std::string_view text, int first_line, Problems& problems) {
  fy_diag_cfg diag_cfg{};
  diag_cfg.output_fn = Discard;
  diag_cfg.level = FYET_ERROR;
  diag_cfg.module_mask = ~0U;
  const std::unique_ptr<fy_diag, DiagDestroy> diag(fy_diag_create(&diag_cfg));
  if (diag == nullptr) {
    problems.AddForFile("out of memory");
    return std::nullopt;
  }
  fy_diag_set_collect_errors(diag.get(), true);
  fy_parse_cfg cfg{};
  cfg.flags = static_cast<fy_parse_cfg_flags>(FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE);
  cfg.diag = diag.get();
  const std::unique_ptr<fy_parser, ParserDestroy> parser(fy_parser_create(&cfg));
  if (parser == nullptr || fy_parser_set_string(parser.get(), text.data(), text.size()) != 0) {
    problems.AddForFile("out of memory");
    return std::nullopt;
  }
  TreeBuilder builder(text, first_line, problems);
  bool more = true;
  while (more) {
    fy_event* event = fy_parser_parse(parser.get());
    if (event == nullptr) break;
    more = builder.Take(event);
    fy_parser_event_free(parser.get(), event);
  }
  if (more && fy_parser_get_stream_error(parser.get())) builder.TakeErrors(diag.get());
  return builder.Root();
}

std::string Describe(const YamlNode& node) {
  if (node.kind == Kind::kList) return "a list";
  if (node.kind == Kind::kMap) return "a map";
  if (node.nothing) return "nothing";
  constexpr std::size_t kShown = 40;
  std::string text = node.text.substr(0, kShown);
  while (!text.empty() && node.text.size() > kShown &&
         (static_cast<unsigned char>(node.text[text.size()]) & 0xC0) == 0x80)
    text.pop_back();
  if (text.size() < node.text.size()) text += "…";
  std::replace(text.begin(), text.end(), '\n', ' ');
  return '"' + text + '"';
}

}  // namespace railwright::spec
