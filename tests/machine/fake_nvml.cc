// A library with the symbols of libnvidia-ml.so.1: two GPUs that remember what is set. Layouts are declared
// here once more, from the reference and not from the product, so that a mistake there is seen.
#include "tests/machine/fake_nvml.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace {

struct Pci {  // nvmlPciInfo_t (nvmlDeviceGetPciInfo_v3)
  char busIdLegacy[16];
  unsigned int domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
};
struct Process {  // nvmlProcessInfo_v2_t
  unsigned int pid;
  unsigned long long usedGpuMemory;
  unsigned int gpuInstanceId, computeInstanceId;
};

struct LongProcess {
  Process process;
  unsigned long long usedGpuCcProtectedMemory;
};

FakeNvml state;

int Live() { return state.failing != 0 ? state.failing : state.initialised > 0 ? 0 : 1; }
int Put(const char* text, char* out, unsigned int size) {
  if (const int code = Live(); code != 0) return code;
  if (std::strlen(text) >= size) return 7;
  std::strcpy(out, text);
  return 0;
}
// Supported: memory 3201 and 2619, SM 345…1980 in steps of 15.
bool HasClocks(unsigned int memory, unsigned int sm) {
  return (memory == 3201 || memory == 2619) && sm >= 345 && sm <= 1980 && (sm - 345) % 15 == 0;
}

}  // namespace

extern "C" {

FakeNvml* fake_nvml_state() { return &state; }

int nvmlInit_v2() {
  ++state.inits;
  if (state.init_fails != 0) return state.init_fails;
  ++state.initialised;
  return 0;
}
int nvmlShutdown() {
  --state.initialised;
  return 0;
}
const char* nvmlErrorString(int code) { return code == 15 ? "GPU is lost" : "some error"; }
int nvmlSystemGetDriverVersion(char* out, unsigned int size) { return Put("580.159.04", out, size); }
int nvmlSystemGetNVMLVersion(char* out, unsigned int size) { return Put("13.580.159.04", out, size); }
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return Live();
}
int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 2;
  return Live();
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, FakeGpu** gpu) {
  if (index >= 2) return 2;
  *gpu = &state.gpus[index];
  return state.gpus[index].lost ? 15 : Live();
}
int nvmlDeviceGetPciInfo_v3(FakeGpu* gpu, Pci* pci) {
  const auto number = static_cast<unsigned int>(gpu - state.gpus);
  *pci = {};
  pci->bus = 0x3b + 0x22 * number;
  std::snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", pci->bus);
  return Live();
}
int nvmlDeviceGetName(FakeGpu*, char* out, unsigned int size) { return Put("NVIDIA H200", out, size); }
int nvmlDeviceGetUUID(FakeGpu* gpu, char* out, unsigned int size) {
  return Put(gpu == state.gpus ? "GPU-8d5f0b1c-1111-2222-3333-444455556666"
                               : "GPU-8d5f0b1c-1111-2222-3333-444455557777",
             out, size);
}
int nvmlDeviceGetSerial(FakeGpu* gpu, char* out, unsigned int size) {
  return Put(gpu == state.gpus ? "1654922012345" : "1654922012346", out, size);
}
int nvmlDeviceGetPersistenceMode(FakeGpu* gpu, int* on) {
  *on = gpu->persistence;
  return Live();
}
int nvmlDeviceSetPersistenceMode(FakeGpu* gpu, int on) {
  if (state.forbidden) return 4;
  gpu->persistence = on;
  return Live();
}
int nvmlDeviceGetEccMode(FakeGpu* gpu, int* current, int* pending) {
  if (!gpu->has_ecc) return 3;
  *current = gpu->ecc;
  *pending = gpu->ecc_pending;
  return Live();
}
int nvmlDeviceSetEccMode(FakeGpu* gpu, int on) {
  gpu->ecc_pending = on;
  return Live();
}
int nvmlDeviceGetMigMode(FakeGpu*, unsigned int* current, unsigned int* pending) {
  *current = *pending = 0;
  return Live();
}
int nvmlDeviceGetMaxClockInfo(FakeGpu*, int kind, unsigned int* clock) {
  *clock = kind == 2 ? 3201 : 1980;
  return Live();
}
int nvmlDeviceGetApplicationsClock(FakeGpu* gpu, int kind, unsigned int* clock) {
  if (state.no_application_clocks) return 26;
  *clock = kind == 2 ? gpu->memory : gpu->sm;
  return Live();
}
int nvmlDeviceGetDefaultApplicationsClock(FakeGpu*, int kind, unsigned int* clock) {
  if (state.no_application_clocks) return 26;
  *clock = kind == 2 ? 3201 : 1980;
  return Live();
}
int nvmlDeviceSetApplicationsClocks(FakeGpu* gpu, unsigned int memory, unsigned int sm) {
  if (!HasClocks(memory, sm)) return 2;
  gpu->memory = memory;
  gpu->sm = sm;
  return Live();
}
int nvmlDeviceResetApplicationsClocks(FakeGpu* gpu) {
  gpu->memory = 3201;
  gpu->sm = 1980;
  return Live();
}
int nvmlDeviceGetSupportedMemoryClocks(FakeGpu*, unsigned int* count, unsigned int* clocks) {
  clocks[0] = 3201;
  clocks[1] = 2619;
  *count = 2;
  return Live();
}
int nvmlDeviceGetSupportedGraphicsClocks(FakeGpu*, unsigned int, unsigned int* count, unsigned int* clocks) {
  *count = 0;
  for (unsigned int sm = 345; sm <= 1980; sm += 15) clocks[(*count)++] = sm;
  return Live();
}
int nvmlDeviceGetComputeRunningProcesses_v2(FakeGpu* gpu, unsigned int* count, Process* processes) {
  const auto there = static_cast<unsigned int>(gpu->processes);
  const unsigned int room = *count;
  *count = there;
  if (there > room) return 7;
  for (unsigned int i = 0; i < there; ++i) processes[i] = {1000 + i, 1ULL << 40, 0xffffffff, 0xffffffff};
  return Live();
}

// As in driver 535.54: entries that are 8 bytes longer. Whoever reads them as the second version reads
// nonsense.
int nvmlDeviceGetComputeRunningProcesses_v3(FakeGpu* gpu, unsigned int* count, LongProcess* processes) {
  const auto there = static_cast<unsigned int>(gpu->processes);
  const unsigned int room = *count;
  *count = there;
  if (there > room) return 7;
  for (unsigned int i = 0; i < there; ++i) processes[i] = {{1000 + i, 1ULL << 40, 0xffffffff, 0xffffffff}, 0};
  return Live();
}

}  // extern "C"
