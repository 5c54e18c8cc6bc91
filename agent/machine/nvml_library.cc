#include "agent/machine/nvml_library.h"

#include <dlfcn.h>

#include <cerrno>

namespace railwright::machine {
namespace {

struct Meaning {
  nvml::Return code;
  Code canonical;
  int error_number;
  std::string_view sentence;
};

constexpr Meaning kMeanings[] = {
    {nvml::kInvalidArgument, Code::kInvalidArgument, EINVAL, "the driver takes no such value"},
    {nvml::kNotSupported, Code::kUnimplemented, EOPNOTSUPP,
     "this GPU or its virtual machine does not have it"},
    {nvml::kNoPermission, Code::kPermissionDenied, EPERM, "only root may do it"},
    {nvml::kNotFound, Code::kNotFound, ENOENT, "not there"},
    {nvml::kDriverNotLoaded, Code::kNotFound, ENXIO,
     "the NVIDIA kernel driver is not loaded; load module nvidia, and look at the kernel's log if it does "
     "not stay"},
    {nvml::kTimeout, Code::kDeadlineExceeded, ETIMEDOUT, "the GPU did not answer in time"},
    {nvml::kFunctionNotFound, Code::kUnimplemented, ENOSYS,
     "this release of the driver's library does not have it"},
    {nvml::kGpuIsLost, Code::kFailedPrecondition, ENODEV,
     "the GPU has fallen off the bus; look for Xid 79 in the kernel's log, and reboot the node when it is "
     "drained"},
    {nvml::kResetRequired, Code::kFailedPrecondition, EIO,
     "the GPU must be reset before it can be used: `nvidia-smi --gpu-reset` when nothing runs on it"},
    {nvml::kVersionMismatch, Code::kFailedPrecondition, ELIBBAD,
     "the library and the loaded kernel module are of different releases: the driver was upgraded without "
     "loading the "
     "new module; reboot, or unload and load the nvidia modules when nothing uses them"},
    {nvml::kInUse, Code::kUnavailable, EBUSY, "the GPU is in use"},
    {nvml::kFrequencyNotSupported, Code::kInvalidArgument, EINVAL, "the GPU has no such pair of clocks"},
    {nvml::kDeprecated, Code::kUnimplemented, EOPNOTSUPP, "this release of the driver has taken it out"},
    {nvml::kNotReady, Code::kUnavailable, EAGAIN, "the GPU is not ready yet"},
    {nvml::kGpuNotFound, Code::kNotFound, ENODEV, "the driver has found no GPU"},
};

}  // namespace

NvmlLibrary::~NvmlLibrary() { Close(); }

void NvmlLibrary::Close() {
  if (handle_ != nullptr) ::dlclose(handle_);
  handle_ = nullptr;
  functions_ = {};
}

Status NvmlLibrary::StatusOf(nvml::Return code, std::string_view what) const {
  if (code == nvml::kSuccess) return Ok();
  const char* words = functions_.error_string != nullptr ? functions_.error_string(code) : nullptr;
  const std::string number =
      " (NVML error " + std::to_string(code) + (words != nullptr ? ": " + std::string(words) : "") + ")";
  for (const Meaning& one : kMeanings)
    if (one.code == code)
      return Status(one.canonical, std::string(what) + ": " + std::string(one.sentence) + number,
                    one.error_number);
  return Status(Code::kInternal, std::string(what) + ": the NVIDIA driver failed" + number, EIO);
}

Status NvmlLibrary::Open() {
  if (handle_ != nullptr) return Ok();
  handle_ = ::dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const char* told = ::dlerror();
    const std::string why = told != nullptr ? told : "dlopen failed";
    // The loader's only way to say that the file itself, not one that it needs, is missing.
    const bool absent = why.starts_with(file_ + ":") && why.find("No such file") != std::string::npos;
    return absent ? Status(Code::kNotFound, "no NVIDIA driver library here: " + why, ENOENT)
                  : Status(Code::kFailedPrecondition, "the NVIDIA driver library cannot be loaded: " + why,
                           ELIBBAD);
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle_, name));
    return function != nullptr;
  };
  NvmlFunctions& f = functions_;
  bool whole = find(f.init, "nvmlInit_v2");
  whole &= find(f.shutdown, "nvmlShutdown");
  whole &= find(f.count, "nvmlDeviceGetCount_v2");
  whole &= find(f.by_index, "nvmlDeviceGetHandleByIndex_v2");
  whole &= find(f.pci, "nvmlDeviceGetPciInfo_v3");
  whole &= find(f.driver_version, "nvmlSystemGetDriverVersion");
  find(f.error_string, "nvmlErrorString");
  find(f.library_version, "nvmlSystemGetNVMLVersion");
  find(f.cuda_version, "nvmlSystemGetCudaDriverVersion_v2");
  find(f.name, "nvmlDeviceGetName");
  find(f.uuid, "nvmlDeviceGetUUID");
  find(f.serial, "nvmlDeviceGetSerial");
  find(f.persistence, "nvmlDeviceGetPersistenceMode");
  find(f.set_persistence, "nvmlDeviceSetPersistenceMode");
  find(f.ecc, "nvmlDeviceGetEccMode");
  find(f.set_ecc, "nvmlDeviceSetEccMode");
  find(f.mig, "nvmlDeviceGetMigMode");
  find(f.max_clock, "nvmlDeviceGetMaxClockInfo");
  find(f.application_clock, "nvmlDeviceGetApplicationsClock");
  find(f.default_clock, "nvmlDeviceGetDefaultApplicationsClock");
  find(f.set_application_clocks, "nvmlDeviceSetApplicationsClocks");
  find(f.reset_application_clocks, "nvmlDeviceResetApplicationsClocks");
  find(f.memory_clocks, "nvmlDeviceGetSupportedMemoryClocks");
  find(f.graphics_clocks, "nvmlDeviceGetSupportedGraphicsClocks");
  // The third is laid out like the second, except in the first releases of branch 535, where each entry has 8
  // bytes more. The first of all, without a number, has fewer.
  if (!find(f.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v2"))
    find(f.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  if (whole) return Ok();
  Close();
  return Status(Code::kUnimplemented,
                file_ + " is too old, or not NVIDIA's: it lacks the functions of release 11", ELIBBAD);
}

Status NvmlLibrary::Begin() {
  RW_RETURN_IF_ERROR(Open());
  const nvml::Return code = functions_.init();
  const Status begun = StatusOf(code, file_);
  // The file may be newer than what is open: look at it again next time.
  if (code == nvml::kVersionMismatch) Close();
  return begun;
}

void NvmlLibrary::End() {
  if (functions_.shutdown != nullptr) functions_.shutdown();
}

}  // namespace railwright::machine
