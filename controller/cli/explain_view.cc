#include "controller/cli/explain_view.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "controller/cli/wrap.h"
#include "core/text/shapes.h"
#include "core/text/times.h"

namespace railwright::cli {
namespace {

using Json = nlohmann::ordered_json;

bool SameLetters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string NoticedText(const Noticed& noticed) {
  const std::string worst = noticed.worst.count() == 0 ? "one scan interval" : Took(noticed.worst);
  if (!noticed.by_event) return "by the periodic scan; at worst after " + worst;
  return "by event (" + noticed.source + "); at worst after " + worst;
}

std::string_view EffectText(Effect effect) {
  switch (effect) {
    case Effect::kRuntime: return "at once";
    case Effect::kNeedsReboot: return "at the next boot; until then Pending (NeedsReboot)";
    case Effect::kNextBoot:
      return "stored at once, in force after the next boot; until then Pending (NeedsReboot)";
    case Effect::kObserveOnly: break;
  }
  return "never: this version reads it and does not write it (ObserveOnly)";
}

class Sheet {
 public:
  explicit Sheet(const Terminal& terminal) : terminal_(terminal) {}

  void Title(const std::string& name, const std::string& code, std::string_view help) {
    out_ << Coloured(name, Tone::kStrong, terminal_) << (code.empty() ? "" : "  " + code) << '\n';
    out_ << Wrap(help, "  ");
    out_ << '\n';
  }
  void Line(const char* what, std::string_view text) {
    if (text.empty()) return;
    constexpr std::size_t kLabel = 12;
    const std::string label(what);
    const std::string lines = Wrap(text, std::string(2 + kLabel, ' '), kParagraph - kLabel);
    const std::string head = Coloured(label, Tone::kDim, terminal_) + std::string(kLabel - label.size(), ' ');
    out_ << "  " << head << lines.substr(2 + kLabel);
  }
  void Text(std::string_view text) { out_ << Wrap(text, "  "); }
  void Gap() { out_ << '\n'; }
  std::string str() const { return out_.str(); }

 private:
  std::ostringstream out_;
  const Terminal& terminal_;
};

// A register has a meaning and a range of its own, which the family's page would bury in a list.
const DcqcnRegister* RegisterOf(const SettingInfo& info, const Page& page) {
  return info.key.starts_with("dcqcn.") ? FindDcqcnRegister(page.param) : nullptr;
}

// What the shipped templates give a key, and why.
std::vector<std::pair<const Template*, const TemplateSetting*>> TemplatesWith(const std::string& key) {
  std::vector<std::pair<const Template*, const TemplateSetting*>> found;
  for (const Template& one : ShippedTemplates())
    for (const TemplateSetting& setting : one.settings)
      if (setting.key == key) found.emplace_back(&one, &setting);
  return found;
}

std::string SettingText(const SettingInfo& info, const Page& page, const Terminal& terminal) {
  Sheet sheet(terminal);
  const bool family = info.key.find('<') != std::string::npos;
  sheet.Title(page.asked, info.code, info.help);
  sheet.Line("why", info.why);
  sheet.Line("applies to",
             info.targets == TargetKind::kPort ? "a port: {fabric: VALUE} or {rail0: VALUE}" : "the node");
  if (family) {
    const auto open = info.key.find('<');
    sheet.Line("family",
               info.key + (page.param.empty() ? "; write " + info.key.substr(0, open) + "NAME"
                                              : "; here " + info.key.substr(open) + " is " + page.param));
  }
  if (const DcqcnRegister* one = RegisterOf(info, page)) {
    sheet.Line("register", one->what);
    sheet.Line("values", AllowedValues(*one));
    sheet.Line("default", "the firmware's; mostly " + std::string(one->factory));
  } else {
    sheet.Line("values", info.syntax);
    sheet.Line("default", info.default_value);
  }
  sheet.Line("disruption",
             std::string(Name(info.disruption)) + " at worst; the plan shows that of each change");
  sheet.Line("in effect", EffectText(info.effect));
  sheet.Line("drift seen", NoticedText(info.noticed));
  sheet.Line("interface", info.interface);
  sheet.Line("source", info.source);
  if (!info.likely_owners.empty()) {
    std::string owners;
    for (const std::string& owner : info.likely_owners) owners += (owners.empty() ? "" : ", ") + owner;
    sheet.Line("rivals", owners + " may set it too (railctl explain Contended)");
  }
  const char* label = "templates";
  for (const auto& [one, setting] : TemplatesWith(page.asked)) {
    sheet.Line(label, one->name + ": " + setting->value +
                          (setting->reason.empty() ? std::string() : ". " + setting->reason));
    label = "";
  }
  if (!info.code.empty()) {
    sheet.Gap();
    sheet.Text(
        info.code +
        " in a finding: this setting is not as declared, or could not be read. Next: railctl why NODE " +
        (family && page.param.empty() ? info.key : page.asked));
  }
  return sheet.str();
}

std::string CheckText(const CheckInfo& info, const Terminal& terminal) {
  Sheet sheet(terminal);
  sheet.Title(info.key, info.code, info.help);
  sheet.Line("why", info.why);
  sheet.Line("writes", "nothing: it is a check");
  sheet.Line("noticed", NoticedText(info.noticed));
  sheet.Line("interface", info.interface);
  return sheet.str();
}

std::string TemplateText(const Template& one, const Terminal& terminal) {
  Sheet sheet(terminal);
  sheet.Title(one.name, "", one.about);
  for (const TemplateSetting& setting : one.settings) {
    sheet.Text(setting.key + ": " + setting.value);
    if (!setting.reason.empty()) sheet.Line("", setting.reason);
  }
  sheet.Gap();
  sheet.Text("The file is templates/" + one.file + " (/usr/share/railwright/templates/" + one.file +
             "). Copy it, change it, and see what it would do: railctl plan -f " + one.file);
  return sheet.str();
}

std::string ReasonText(const ReasonPage& page, const Terminal& terminal) {
  Sheet sheet(terminal);
  sheet.Title(std::string(page.word), std::string(page.code), page.summary);
  sheet.Text(page.detail);
  return sheet.str();
}

std::string AliasText(const DcqcnAlias& alias, const Terminal& terminal) {
  Sheet sheet(terminal);
  const DcqcnRegister& target = TargetOf(alias);
  sheet.Title(std::string(alias.key), "", "An alias of " + TargetKeyOf(alias) + ".");
  sheet.Line("stands for", TargetKeyOf(alias) + ": " + std::string(target.what));
  sheet.Line("applies to", "a port: {fabric: VALUE} or {rail0: VALUE}");
  sheet.Line("values", AllowedValues(target));
  sheet.Line("default", "the firmware's; mostly " + std::string(target.factory));
  sheet.Line("for example", ExampleOf(alias));
  sheet.Line("beside it", std::string(kDcqcnAliasProfileKey) + ": " + std::string(kDcqcnAliasProfile));
  sheet.Gap();
  sheet.Text(MeaningOf(alias));
  sheet.Text("The register itself: railctl explain " + TargetKeyOf(alias));
  return sheet.str();
}

}  // namespace

Result<Page> FindPage(const CatalogDeclarations& catalog, std::string_view word) {
  for (const SettingInfo* info : catalog.settings())
    if (SameLetters(info->code, word) || info->key == word) return Page{info, info->key, {}};
  for (const CheckInfo* info : catalog.checks())
    if (SameLetters(info->code, word) || info->key == word) return Page{info, info->key, {}};
  for (const ReasonPage& page : ReasonPages())
    if (SameLetters(page.code, word) || SameLetters(page.word, word))
      return Page{&page, std::string(page.word), {}};
  for (const Template& one : ShippedTemplates())
    if (one.name == word || one.file == word) return Page{&one, one.name, {}};
  if (const DcqcnAlias* alias = FindDcqcnAlias(word)) return Page{alias, std::string(word), {}};
  // What names the aliases is explained with the first of them.
  if (word == kDcqcnAliasProfileKey) return Page{&DcqcnAliases().front(), std::string(word), {}};
  if (auto match = catalog.Find(word); match.ok()) return Page{match->info, match->key, match->param};
  // "sysctl" or "sysctl." alone: the family, where there is one.
  for (const SettingInfo* info : catalog.settings()) {
    const std::string_view prefix = std::string_view(info->key).substr(0, info->key.find('<'));
    if (prefix.size() < info->key.size() && (word == prefix || std::string(word) + "." == prefix))
      return Page{info, info->key, {}};
  }
  const std::vector<std::string> topics = Topics(catalog);
  const std::vector<std::string_view> known(topics.begin(), topics.end());
  std::string message = "nothing is called \"" + std::string(word) + "\"";
  if (const std::string_view near = Nearest(word, known); !near.empty())
    message += "; did you mean \"" + std::string(near) + "\"?";
  return Status(Code::kNotFound, message + "\nsee: railctl explain");
}

std::vector<std::string> Topics(const CatalogDeclarations& catalog) {
  std::vector<std::string> topics;
  for (const SettingInfo* info : catalog.settings()) {
    topics.push_back(info->key);
    topics.push_back(info->code);
  }
  for (const CheckInfo* info : catalog.checks()) {
    topics.push_back(info->key);
    topics.push_back(info->code);
  }
  for (const DcqcnAlias& alias : DcqcnAliases()) topics.emplace_back(alias.key);
  for (const Template& one : ShippedTemplates()) topics.push_back(one.name);
  for (const ReasonPage& page : ReasonPages()) {
    topics.emplace_back(page.word);
    topics.emplace_back(page.code);
  }
  return topics;
}

Json PageJson(const Page& page) {
  Json json;
  if (const auto* setting = std::get_if<const SettingInfo*>(&page.about)) {
    json = {{"kind", "setting"}};
    json.update(CatalogShape({*setting}, {}, "")["settings"][0]);
    json["param"] = page.param;
    if (const DcqcnRegister* one = RegisterOf(**setting, page)) {
      json["register"] = one->what;
      json["syntax"] = AllowedValues(*one);
      json["default"] = one->factory;
    }
    json["likely_owners"] = (*setting)->likely_owners;
    json["templates"] = Json::array();
    for (const auto& [one, given] : TemplatesWith(page.asked))
      json["templates"].push_back(
          {{"template", one->name}, {"value", given->value}, {"reason", given->reason}});
  } else if (const auto* check = std::get_if<const CheckInfo*>(&page.about)) {
    json = {{"kind", "check"}};
    json.update(CatalogShape({}, {*check}, "")["checks"][0]);
  } else if (const auto* alias = std::get_if<const DcqcnAlias*>(&page.about)) {
    const DcqcnRegister& target = TargetOf(**alias);
    json = {{"kind", "alias"},
            {"key", (*alias)->key},
            {"stands_for", TargetKeyOf(**alias)},
            {"syntax", AllowedValues(target)},
            {"default", target.factory},
            {"profile", kDcqcnAliasProfileKey},
            {"profile_value", kDcqcnAliasProfile},
            {"example", ExampleOf(**alias)},
            {"detail", MeaningOf(**alias)}};
  } else if (const auto* one = std::get_if<const Template*>(&page.about)) {
    json = {{"kind", "template"}, {"name", (*one)->name}, {"file", (*one)->file}, {"about", (*one)->about}};
    json["settings"] = Json::array();
    for (const TemplateSetting& given : (*one)->settings)
      json["settings"].push_back({{"key", given.key}, {"value", given.value}, {"reason", given.reason}});
    json["text"] = (*one)->text;
  } else {
    const ReasonPage& reason = *std::get<const ReasonPage*>(page.about);
    json = {{"kind", "reason"},
            {"word", reason.word},
            {"code", reason.code},
            {"summary", reason.summary},
            {"detail", reason.detail}};
  }
  return json;
}

std::string PageText(const Page& page, const Terminal& terminal) {
  if (const auto* setting = std::get_if<const SettingInfo*>(&page.about))
    return SettingText(**setting, page, terminal);
  if (const auto* check = std::get_if<const CheckInfo*>(&page.about)) return CheckText(**check, terminal);
  if (const auto* alias = std::get_if<const DcqcnAlias*>(&page.about)) return AliasText(**alias, terminal);
  if (const auto* one = std::get_if<const Template*>(&page.about)) return TemplateText(**one, terminal);
  return ReasonText(*std::get<const ReasonPage*>(page.about), terminal);
}

Json TopicsJson(const CatalogDeclarations& catalog) {
  Json json = CatalogShape(catalog.settings(), catalog.checks(), catalog.hash());
  json["templates"] = Json::array();
  for (const Template& one : ShippedTemplates())
    json["templates"].push_back({{"name", one.name}, {"file", one.file}, {"about", one.about}});
  json["reasons"] = Json::array();
  for (const ReasonPage& page : ReasonPages())
    json["reasons"].push_back(
        {{"word", page.word}, {"code", page.code}, {"summary", page.summary}, {"detail", page.detail}});
  return json;
}

std::string TopicsTable(const CatalogDeclarations& catalog, const Terminal& terminal) {
  Table table({{.header = "CODE"}, {.header = "NAME"}, {.header = "WHAT IT IS"}});
  for (const SettingInfo* info : catalog.settings()) table.Add({info->code, info->key, info->help});
  for (const CheckInfo* info : catalog.checks()) table.Add({info->code, info->key, info->help});
  for (const Template& one : ShippedTemplates())
    table.Add({"", one.name, one.about.substr(0, one.about.find(". "))});
  for (const ReasonPage& page : ReasonPages())
    table.Add({std::string(page.code), std::string(page.word), std::string(page.summary)});
  return table.Render(terminal) + "\nRead one: railctl explain NAME or CODE\n";
}

}  // namespace railwright::cli
