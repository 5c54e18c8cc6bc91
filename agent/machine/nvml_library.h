// NVIDIA's management library, found at run time. Only what we use of it is declared here.
#pragma once

#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright::machine {

/// Names, numbers and layouts are those of NVIDIA's "NVML API Reference Guide"
/// (docs.nvidia.com/deploy/nvml-api; releases 11 to 13), written down for what is called here. The versions
/// in the names fix the layouts.
namespace nvml {

using Return = int;  ///< nvmlReturn_t
struct Device;       ///< nvmlDevice_st, opaque
constexpr Return kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kNoPermission = 4, kNotFound = 6,
                 kInsufficientSize = 7, kDriverNotLoaded = 9, kTimeout = 10, kFunctionNotFound = 13,
                 kGpuIsLost = 15, kResetRequired = 16, kVersionMismatch = 18, kInUse = 19,
                 kFrequencyNotSupported = 24, kDeprecated = 26, kNotReady = 27, kGpuNotFound = 28;
constexpr int kClockGraphics = 0, kClockMemory = 2;  ///< nvmlClockType_t; graphics and SM run together
constexpr unsigned kUuidSize = 96, kSerialSize = 30, kNameSize = 96, kVersionSize = 80;

/// nvmlPciInfo_t, third version.
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];  ///< "00000000:3B:00.0"
};
static_assert(sizeof(PciInfo) == 68);

/// nvmlProcessInfo_v2_t, of nvmlDeviceGetComputeRunningProcesses_v2.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24);

}  // namespace nvml

/// The functions; a pointer is null where this release of the library does not have it.
struct NvmlFunctions {
  nvml::Return (*init)();
  nvml::Return (*shutdown)();
  const char* (*error_string)(nvml::Return);
  nvml::Return (*driver_version)(char*, unsigned);
  nvml::Return (*library_version)(char*, unsigned);
  nvml::Return (*cuda_version)(int*);
  nvml::Return (*count)(unsigned*);
  nvml::Return (*by_index)(unsigned, nvml::Device**);
  nvml::Return (*pci)(nvml::Device*, nvml::PciInfo*);
  nvml::Return (*name)(nvml::Device*, char*, unsigned);
  nvml::Return (*uuid)(nvml::Device*, char*, unsigned);
  nvml::Return (*serial)(nvml::Device*, char*, unsigned);
  nvml::Return (*persistence)(nvml::Device*, int*);
  nvml::Return (*set_persistence)(nvml::Device*, int);
  nvml::Return (*ecc)(nvml::Device*, int*, int*);
  nvml::Return (*set_ecc)(nvml::Device*, int);
  nvml::Return (*mig)(nvml::Device*, unsigned*, unsigned*);
  nvml::Return (*max_clock)(nvml::Device*, int, unsigned*);
  nvml::Return (*application_clock)(nvml::Device*, int, unsigned*);
  nvml::Return (*default_clock)(nvml::Device*, int, unsigned*);
  nvml::Return (*set_application_clocks)(nvml::Device*, unsigned, unsigned);
  nvml::Return (*reset_application_clocks)(nvml::Device*);
  nvml::Return (*memory_clocks)(nvml::Device*, unsigned*, unsigned*);
  nvml::Return (*graphics_clocks)(nvml::Device*, unsigned, unsigned*, unsigned*);
  nvml::Return (*compute_processes)(nvml::Device*, unsigned*, nvml::ProcessInfo*);
};

/// The library, opened when it is first needed and kept open; between Begin and End it is initialised.
///
/// It is not kept initialised: that holds every GPU open, which forbids a reset and the unloading of the
/// driver, and keeps showing the driver of before.
class NvmlLibrary {
 public:
  /// `file` as dlopen takes it.
  explicit NvmlLibrary(std::string file) : file_(std::move(file)) {}
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  /// NotFound (ENOENT): no such library here; NotFound (ENXIO): no driver is loaded. Else as StatusOf.
  Status Begin();
  void End();
  const NvmlFunctions& call() const { return functions_; }

  /// "<what>: <what it means and what to do> (NVML error 18: <the library's words>)"; success for 0.
  Status StatusOf(nvml::Return code, std::string_view what) const;

 private:
  Status Open();
  void Close();

  std::string file_;
  void* handle_ = nullptr;
  NvmlFunctions functions_{};
};

}  // namespace railwright::machine
