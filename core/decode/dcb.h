// Data center bridging of a port as Linux carries it: the structures of linux/dcbnl.h, byte for byte, and
// their text in Machine's paths below /dcb.
//
// Every structure reads `FromBytes`, and `Parse`, the reverse of its `Text`. `Change` takes the fields that a
// text names and leaves the others; readings (capabilities, totals, counters) are ignored there, so that what
// was read may be written back. Bytes are in the order of the host, as dcbnl has them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// Priorities, traffic classes and buffers of a port: IEEE_8021QAZ_MAX_TCS, IEEE_8021Q_MAX_PRIORITIES and
/// DCBX_MAX_BUFFERS of linux/dcbnl.h.
inline constexpr std::size_t kDcbClasses = 8;

/// One value for each priority, traffic class or buffer.
template <class T>
using PerClass = std::array<T, kDcbClasses>;

/// A bit mask of priorities as text: "0,3", or "none".
std::string PrioritiesText(std::uint8_t mask);
/// `none`, or priorities 0…7 separated by commas or blanks. InvalidArgument names what is wrong, also a
/// priority given twice.
Result<std::uint8_t> ParsePriorities(std::string_view text);

/// "a,b,…" to its eight pieces. InvalidArgument for another number of them.
Result<std::vector<std::string_view>> SplitPerClass(std::string_view text);
/// "0,0,1,…" to eight numbers of at most `most`. InvalidArgument.
Result<PerClass<std::uint64_t>> ParsePerClass(std::string_view text, std::uint64_t most);

/// Who negotiates DCB on a port, and in which version; DCB_CAP_DCBX_*.
struct DcbxMode {
  static constexpr std::uint8_t kHost = 1, kLldManaged = 2, kCee = 4, kIeee = 8, kStatic = 16;
  std::uint8_t bits = 0;

  bool host() const { return (bits & kHost) != 0; }
  std::string Text() const;  ///< "host=1 lld_managed=0 cee=0 ieee=1 static=0"
  Status Change(std::string_view fields);
  static Result<DcbxMode> Parse(std::string_view text);
};

/// struct ieee_pfc.
struct DcbPfc {
  static constexpr std::size_t kSize = 136;
  std::uint8_t capacity = 0;  ///< priorities that may have PFC at once; a reading
  std::uint8_t enabled = 0;   ///< bit i: priority i is lossless
  std::uint8_t mbc = 0;       ///< MACsec bypass capability
  /// Round trip allowance in bit times by the standard; mlx5 takes it as the length of the cable in metres.
  std::uint16_t delay = 0;
  PerClass<std::uint64_t> requests{};     ///< pause frames sent; a reading
  PerClass<std::uint64_t> indications{};  ///< pause frames received; a reading

  static Result<DcbPfc> FromBytes(std::span<const std::uint8_t> bytes);
  std::vector<std::uint8_t> Bytes() const;
  std::string Text() const;          ///< "cap=8 enabled=0,3 mbc=0 delay=7"
  std::string CountersText() const;  ///< "requests=0,0,0,… indications=0,0,0,…"
  Status Change(std::string_view fields);
  static Result<DcbPfc> Parse(std::string_view text);
};

/// How a traffic class is scheduled: IEEE_8021QAZ_TSA_*.
inline constexpr std::uint8_t kTsaStrict = 0, kTsaCbShaper = 1, kTsaEts = 2, kTsaVendor = 255;
/// "strict", "cb_shaper", "ets", "vendor", or the number.
std::string TsaText(std::uint8_t algorithm);
Result<std::uint8_t> ParseTsa(std::string_view word);

/// struct ieee_ets. Bandwidths are percent.
struct DcbEts {
  static constexpr std::size_t kSize = 59;
  std::uint8_t willing = 0;
  std::uint8_t capacity = 0;  ///< traffic classes; a reading
  std::uint8_t cbs = 0;       ///< credit based shaper supported
  PerClass<std::uint8_t> tx_bandwidth{}, rx_bandwidth{}, algorithm{}, traffic_class{};
  PerClass<std::uint8_t> recommended_bandwidth{}, recommended_algorithm{}, recommended_class{};

  static Result<DcbEts> FromBytes(std::span<const std::uint8_t> bytes);
  std::vector<std::uint8_t> Bytes() const;
  /// "cap=8 willing=0 cbs=0 prio_tc=1,0,2,… tsa=vendor,… bw=0,… rx_bw=0,… reco_prio_tc=0,… reco_tsa=strict,…
  /// reco_bw=0,…".
  std::string Text() const;
  Status Change(std::string_view fields);
  static Result<DcbEts> Parse(std::string_view text);
};

/// struct ieee_maxrate: kbit/s by traffic class, 0 for no limit.
struct DcbMaxRate {
  static constexpr std::size_t kSize = 64;
  PerClass<std::uint64_t> rates{};

  static Result<DcbMaxRate> FromBytes(std::span<const std::uint8_t> bytes);
  std::vector<std::uint8_t> Bytes() const;
  std::string Text() const;  ///< "kbit=0,0,0,0,0,0,0,0"
  Status Change(std::string_view fields);
  static Result<DcbMaxRate> Parse(std::string_view text);
};

/// struct dcbnl_buffer: receive buffers (headroom), sizes in bytes.
struct DcbBuffer {
  static constexpr std::size_t kSize = 44;
  PerClass<std::uint8_t> of_priority{};
  PerClass<std::uint32_t> size{};
  std::uint32_t total = 0;  ///< what all buffers share; a reading

  static Result<DcbBuffer> FromBytes(std::span<const std::uint8_t> bytes);
  std::vector<std::uint8_t> Bytes() const;
  std::string Text() const;  ///< "prio_buffer=0,0,… size=262144,0,… total=1047552"
  Status Change(std::string_view fields);
  static Result<DcbBuffer> Parse(std::string_view text);
};

/// Whether `leaf` (the last part of /dcb/<if>/<leaf>) is a path of fields that can be set: dcbx, pfc, ets,
/// maxrate, buffer.
bool IsDcbFields(std::string_view leaf);
/// What such a path reads after Set(`value`) where it read `before`.
Result<std::string> ChangedDcbText(std::string_view leaf, std::string_view before, std::string_view value);

}  // namespace railwright
