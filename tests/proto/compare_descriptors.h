// What would break programs and stored documents of the last release, by comparing descriptors.
#pragma once

#include <google/protobuf/descriptor.pb.h>

#include <string>
#include <vector>

namespace railwright {

/// One sentence per break, in the order of the locked files; empty when everything that was there still is.
/// Additions are none. Files of google.protobuf do not count; messages may move between files of a package.
std::vector<std::string> Breaks(const google::protobuf::FileDescriptorSet& locked,
                                const google::protobuf::FileDescriptorSet& current);

}  // namespace railwright
