// What every Machine promises of set-valued paths; said of the kernel and of the fake that stands for it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "railwright/machine.h"

namespace railwright {

/// `machine` has an interface rail0 that is up, with a carrier or none, without addresses, and none called
/// rail9. Nothing is in table 901 and at priority 901, which are left so.
inline void ExpectSetsAreAsPromised(Machine& machine) {
  const auto names = [&](const std::string& path) {
    const auto list = machine.List(path);
    EXPECT_TRUE(list.ok()) << path << ": " << list.status().ToString();
    return list.value_or({});
  };
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  struct Set {
    std::string path, lines, unsorted, other;
  };
  for (const Set& set :
       {Set{"/rtnl/addr/rail0", "10.77.0.1/24\n10.78.0.1/24", " 10.78.0.1/24\n\n10.77.0.1/24 \n10.78.0.1/24",
            "10.79.0.1/24"},
        Set{"/rtnl/route/901", "10.61.0.0/24 dev rail0 scope link\nblackhole 10.62.0.0/24",
            "blackhole 10.62.0.0/24\n10.61.0.0/24 dev rail0 scope link\n", "blackhole 10.63.0.0/24"},
        Set{"/rtnl/rule/901", "from 10.77.0.1 lookup 901\nfrom 10.78.0.1 lookup 901",
            "from 10.78.0.1 lookup 901\nfrom 10.77.0.1 lookup 901", "from 10.79.0.1 lookup 901"}}) {
    SCOPED_TRACE(set.path);
    const std::string folder = set.path.substr(0, set.path.rfind('/')),
                      name = set.path.substr(folder.size() + 1);
    const bool of_interface = folder == "/rtnl/addr";
    const auto get = [&] {
      const auto text = machine.Get(set.path);
      return text.ok() ? *text : text.status().ToString();
    };
    EXPECT_EQ(get(), "") << "nothing there yet, which is no error";
    EXPECT_EQ(has(names(folder), name), of_interface);
    ASSERT_TRUE(machine.Set(set.path, set.unsorted).ok()) << machine.Set(set.path, set.unsorted).ToString();
    EXPECT_EQ(get(), set.lines) << "sorted, each once";
    EXPECT_TRUE(has(names(folder), name));
    ASSERT_TRUE(machine.Set(set.path, set.other).ok());
    EXPECT_EQ(get(), set.other) << "the whole set was made so";
    ASSERT_TRUE(machine.Set(set.path, "").ok());
    EXPECT_EQ(get(), "") << "emptied, it reads as if nothing had been there";
    EXPECT_EQ(has(names(folder), name), of_interface) << "an empty table is not listed, an interface is";
    EXPECT_TRUE(machine.Set(set.path, "").ok()) << "and may be emptied again";
  }
  EXPECT_EQ(machine.Get("/rtnl/addr/rail9").status().code(), Code::kNotFound);
  EXPECT_EQ(machine.Set("/rtnl/addr/rail9", "10.77.0.1/24").code(), Code::kNotFound);
  EXPECT_EQ(machine.Get("/rtnl/addr/rail9").status().code(), Code::kNotFound) << "nothing was made";
  for (const char* path : {"/rtnl/route/254", "/rtnl/route/0", "/rtnl/rule/0", "/rtnl/rule/32766"})
    EXPECT_EQ(machine.Set(path, "").code(), Code::kFailedPrecondition) << path << " is the host's own";
}

}  // namespace railwright
