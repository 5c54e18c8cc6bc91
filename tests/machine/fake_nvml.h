// What a test sees and changes of the fake libnvidia-ml.so.1 (fake_nvml.cc), by its symbol fake_nvml_state.
#pragma once

struct FakeGpu {
  int persistence = 0;
  bool has_ecc = true;
  int ecc = 1, ecc_pending = 1;
  unsigned sm = 1980, memory = 3201;
  int processes = 0;
  bool lost = false;
};

struct FakeNvml {
  FakeGpu gpus[2];
  int initialised = 0;  ///< balance of nvmlInit and nvmlShutdown
  int inits = 0;
  int init_fails = 0;  ///< NVML error of nvmlInit
  int failing = 0;     ///< NVML error of every other call
  bool forbidden = false;
  bool no_application_clocks = false;
};
