#include "core/decode/dcb.h"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <limits>

#include "core/decode/fields.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

template <class T>
constexpr std::uint64_t kMost = std::numeric_limits<T>::max();

template <class T>
std::string ListText(const PerClass<T>& values) {
  std::string text;
  for (const T value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

// A structure names its fields once, by Describe; these three go through them: into text, out of text.

class ToText {
 public:
  template <class T>
  void Reading(std::string_view name, const T& value) {
    fields_.Set(name, std::uint64_t{value});
  }
  template <class T>
  void Number(std::string_view name, const T& value) {
    fields_.Set(name, std::uint64_t{value});
  }
  void Bit(std::string_view name, std::uint8_t bits, std::uint8_t mask) {
    fields_.Set(name, (bits & mask) != 0 ? "1" : "0");
  }
  template <class T>
  void List(std::string_view name, const PerClass<T>& values) {
    fields_.Set(name, ListText(values));
  }
  void Priorities(std::string_view name, std::uint8_t mask) { fields_.Set(name, PrioritiesText(mask)); }
  void Algorithms(std::string_view name, const PerClass<std::uint8_t>& values) {
    std::string text;
    for (const auto value : values) text += (text.empty() ? "" : ",") + TsaText(value);
    fields_.Set(name, text);
  }
  std::string Text() const { return fields_.Text(); }

 private:
  Fields fields_;
};

class FromText {
 public:
  /// `whole`: every field is needed, and readings are taken, too.
  FromText(const Fields& fields, bool whole) : fields_(fields), whole_(whole) {}

  template <class T>
  void Reading(std::string_view name, T& value) {
    if (whole_)
      Number(name, value);
    else
      known_.push_back(name);
  }
  template <class T>
  void Number(std::string_view name, T& value) {
    Take(name, [&](std::string_view text) -> Status {
      RW_ASSIGN_OR_RETURN(const auto number, ParseWhole(text, 0, kMost<T>));
      value = static_cast<T>(number);
      return Ok();
    });
  }
  void Bit(std::string_view name, std::uint8_t& bits, std::uint8_t mask) {
    Take(name, [&](std::string_view text) -> Status {
      RW_ASSIGN_OR_RETURN(const auto on, ParseWhole(text, 0, 1));
      bits = static_cast<std::uint8_t>(on != 0 ? bits | mask : bits & ~mask);
      return Ok();
    });
  }
  template <class T>
  void List(std::string_view name, PerClass<T>& values) {
    Take(name, [&](std::string_view text) -> Status {
      RW_ASSIGN_OR_RETURN(const auto numbers, ParsePerClass(text, kMost<T>));
      std::transform(numbers.begin(), numbers.end(), values.begin(),
                     [](std::uint64_t number) { return static_cast<T>(number); });
      return Ok();
    });
  }
  void Priorities(std::string_view name, std::uint8_t& mask) {
    Take(name, [&](std::string_view text) -> Status {
      RW_ASSIGN_OR_RETURN(mask, ParsePriorities(text));
      return Ok();
    });
  }
  void Algorithms(std::string_view name, PerClass<std::uint8_t>& values) {
    Take(name, [&](std::string_view text) -> Status {
      RW_ASSIGN_OR_RETURN(const auto words, SplitPerClass(text));
      for (std::size_t i = 0; i < kDcbClasses; ++i) {
        RW_ASSIGN_OR_RETURN(values[i], ParseTsa(words[i]));
      }
      return Ok();
    });
  }

  /// What was wrong first, a field that the structure does not have included.
  Status Done() const {
    RW_RETURN_IF_ERROR(error_);
    std::string known;
    for (const auto name : known_) known += (known.empty() ? "" : ", ") + std::string(name);
    for (const auto& [name, text] : fields_.all())
      if (std::find(known_.begin(), known_.end(), name) == known_.end())
        return Status(Code::kInvalidArgument, "no field " + Quoted(name) + " (known: " + known + ")");
    if (taken_ == 0) return Status(Code::kInvalidArgument, "no field to set (known: " + known + ")");
    return Ok();
  }

 private:
  template <class Use>
  void Take(std::string_view name, Use use) {
    known_.push_back(name);
    const std::string* text = fields_.Find(name);
    if (!error_.ok() || (text == nullptr && !whole_)) return;
    ++taken_;
    error_ = text != nullptr ? use(*text).Within(name)
                             : Status(Code::kInvalidArgument,
                                      "no field " + Quoted(name) + " in " + Quoted(fields_.Text()));
  }

  const Fields& fields_;
  bool whole_;
  int taken_ = 0;
  std::vector<std::string_view> known_;
  Status error_;
};

template <class Structure, class Described>
concept Of = std::same_as<std::remove_const_t<Structure>, Described>;

template <Of<DcbxMode> T, class Through>
void Describe(T& mode, Through& through) {
  through.Bit("host", mode.bits, DcbxMode::kHost);
  through.Bit("lld_managed", mode.bits, DcbxMode::kLldManaged);
  through.Bit("cee", mode.bits, DcbxMode::kCee);
  through.Bit("ieee", mode.bits, DcbxMode::kIeee);
  through.Bit("static", mode.bits, DcbxMode::kStatic);
}

template <Of<DcbPfc> T, class Through>
void Describe(T& pfc, Through& through) {
  through.Reading("cap", pfc.capacity);
  through.Priorities("enabled", pfc.enabled);
  through.Number("mbc", pfc.mbc);
  through.Number("delay", pfc.delay);
}

template <Of<DcbEts> T, class Through>
void Describe(T& ets, Through& through) {
  through.Reading("cap", ets.capacity);
  through.Number("willing", ets.willing);
  through.Number("cbs", ets.cbs);
  through.List("prio_tc", ets.traffic_class);
  through.Algorithms("tsa", ets.algorithm);
  through.List("bw", ets.tx_bandwidth);
  through.List("rx_bw", ets.rx_bandwidth);
  through.List("reco_prio_tc", ets.recommended_class);
  through.Algorithms("reco_tsa", ets.recommended_algorithm);
  through.List("reco_bw", ets.recommended_bandwidth);
}

template <Of<DcbMaxRate> T, class Through>
void Describe(T& rate, Through& through) {
  through.List("kbit", rate.rates);
}

template <Of<DcbBuffer> T, class Through>
void Describe(T& buffer, Through& through) {
  through.List("prio_buffer", buffer.of_priority);
  through.List("size", buffer.size);
  through.Reading("total", buffer.total);
}

template <class Structure>
std::string TextOf(const Structure& structure) {
  ToText through;
  Describe(structure, through);
  return through.Text();
}

// Nothing is changed when anything in the text is wrong.
template <class Structure>
Status TakeFields(Structure& structure, std::string_view text, bool whole) {
  RW_ASSIGN_OR_RETURN(const Fields fields, Fields::Parse(text));
  FromText through(fields, whole);
  Structure changed = structure;
  Describe(changed, through);
  RW_RETURN_IF_ERROR(through.Done());
  structure = changed;
  return Ok();
}

template <class Structure>
Result<Structure> Parsed(std::string_view text) {
  Structure structure;
  RW_RETURN_IF_ERROR(TakeFields(structure, text, true));
  return structure;
}

// The bytes of each structure, member by member.

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  template <class T>
  void At(std::size_t offset, T& member) {
    std::memcpy(&member, bytes_.data() + offset, sizeof member);
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

class Writer {
 public:
  explicit Writer(std::size_t size) : bytes(size) {}
  template <class T>
  void At(std::size_t offset, const T& member) {
    std::memcpy(bytes.data() + offset, &member, sizeof member);
  }
  std::vector<std::uint8_t> bytes;
};

template <Of<DcbPfc> T, class Through>
void Lay(T& pfc, Through& through) {
  through.At(0, pfc.capacity);
  through.At(1, pfc.enabled);
  through.At(2, pfc.mbc);
  through.At(4, pfc.delay);
  through.At(8, pfc.requests);
  through.At(72, pfc.indications);
}

template <Of<DcbEts> T, class Through>
void Lay(T& ets, Through& through) {
  through.At(0, ets.willing);
  through.At(1, ets.capacity);
  through.At(2, ets.cbs);
  through.At(3, ets.tx_bandwidth);
  through.At(11, ets.rx_bandwidth);
  through.At(19, ets.algorithm);
  through.At(27, ets.traffic_class);
  through.At(35, ets.recommended_bandwidth);
  through.At(43, ets.recommended_algorithm);
  through.At(51, ets.recommended_class);
}

template <Of<DcbMaxRate> T, class Through>
void Lay(T& rate, Through& through) {
  through.At(0, rate.rates);
}

template <Of<DcbBuffer> T, class Through>
void Lay(T& buffer, Through& through) {
  through.At(0, buffer.of_priority);
  through.At(8, buffer.size);
  through.At(40, buffer.total);
}

template <class Structure>
Result<Structure> Loaded(std::string_view name, std::span<const std::uint8_t> bytes) {
  if (bytes.size() < Structure::kSize)
    return Status(Code::kInternal, "the kernel's " + std::string(name) + " has " +
                                       std::to_string(bytes.size()) + " bytes, not " +
                                       std::to_string(Structure::kSize));
  Structure structure;
  Reader reader(bytes);
  Lay(structure, reader);
  return structure;
}

template <class Structure>
std::vector<std::uint8_t> Stored(const Structure& structure) {
  Writer writer(Structure::kSize);
  Lay(structure, writer);
  return std::move(writer.bytes);
}

template <class Structure>
Result<std::string> Changed(std::string_view before, std::string_view value) {
  RW_ASSIGN_OR_RETURN(Structure structure, Parsed<Structure>(before));
  RW_RETURN_IF_ERROR(structure.Change(value));
  return structure.Text();
}

constexpr std::pair<std::string_view, Result<std::string> (*)(std::string_view, std::string_view)>
    kFieldPaths[] = {{"dcbx", Changed<DcbxMode>},
                     {"pfc", Changed<DcbPfc>},
                     {"ets", Changed<DcbEts>},
                     {"maxrate", Changed<DcbMaxRate>},
                     {"buffer", Changed<DcbBuffer>}};

}  // namespace

std::string DcbxMode::Text() const { return TextOf(*this); }
Status DcbxMode::Change(std::string_view fields) { return TakeFields(*this, fields, false); }
Result<DcbxMode> DcbxMode::Parse(std::string_view text) { return Parsed<DcbxMode>(text); }

Result<DcbPfc> DcbPfc::FromBytes(std::span<const std::uint8_t> bytes) {
  return Loaded<DcbPfc>("ieee_pfc", bytes);
}
std::vector<std::uint8_t> DcbPfc::Bytes() const { return Stored(*this); }
std::string DcbPfc::Text() const { return TextOf(*this); }
std::string DcbPfc::CountersText() const {
  return "requests=" + ListText(requests) + " indications=" + ListText(indications);
}
Status DcbPfc::Change(std::string_view fields) { return TakeFields(*this, fields, false); }
Result<DcbPfc> DcbPfc::Parse(std::string_view text) { return Parsed<DcbPfc>(text); }

Result<DcbEts> DcbEts::FromBytes(std::span<const std::uint8_t> bytes) {
  return Loaded<DcbEts>("ieee_ets", bytes);
}
std::vector<std::uint8_t> DcbEts::Bytes() const { return Stored(*this); }
std::string DcbEts::Text() const { return TextOf(*this); }
Status DcbEts::Change(std::string_view fields) { return TakeFields(*this, fields, false); }
Result<DcbEts> DcbEts::Parse(std::string_view text) { return Parsed<DcbEts>(text); }

Result<DcbMaxRate> DcbMaxRate::FromBytes(std::span<const std::uint8_t> bytes) {
  return Loaded<DcbMaxRate>("ieee_maxrate", bytes);
}
std::vector<std::uint8_t> DcbMaxRate::Bytes() const { return Stored(*this); }
std::string DcbMaxRate::Text() const { return TextOf(*this); }
Status DcbMaxRate::Change(std::string_view fields) { return TakeFields(*this, fields, false); }
Result<DcbMaxRate> DcbMaxRate::Parse(std::string_view text) { return Parsed<DcbMaxRate>(text); }

Result<DcbBuffer> DcbBuffer::FromBytes(std::span<const std::uint8_t> bytes) {
  return Loaded<DcbBuffer>("dcbnl_buffer", bytes);
}
std::vector<std::uint8_t> DcbBuffer::Bytes() const { return Stored(*this); }
std::string DcbBuffer::Text() const { return TextOf(*this); }
Status DcbBuffer::Change(std::string_view fields) { return TakeFields(*this, fields, false); }
Result<DcbBuffer> DcbBuffer::Parse(std::string_view text) { return Parsed<DcbBuffer>(text); }

bool IsDcbFields(std::string_view leaf) {
  return std::any_of(std::begin(kFieldPaths), std::end(kFieldPaths),
                     [&](const auto& path) { return path.first == leaf; });
}

Result<std::string> ChangedDcbText(std::string_view leaf, std::string_view before, std::string_view value) {
  for (const auto& [name, change] : kFieldPaths)
    if (name == leaf) return change(before, value);
  return Status(Code::kUnimplemented, Quoted(leaf) + " is no path of fields below /dcb");
}

}  // namespace railwright
