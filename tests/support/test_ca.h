// TestCa: a cluster's CA in memory, and the credentials of everybody whom a test needs.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>

#include "core/identity/issuer.h"
#include "core/tls/credentials.h"

namespace railwright {

/// Takes the value out of a Result that must hold one.
template <class T>
T Must(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return std::move(*result);
}

/// A key and its chain, as PEM.
struct Shown {
  std::string chain, key;
};

class TestCa {
 public:
  using Time = identity::Time;

  explicit TestCa(const std::string& cluster = "pod-a", Time now = std::chrono::system_clock::now())
      : now_(now),
        issuer_(Must(identity::Issuer::SelfSigned(Must(identity::ClusterName::Parse(cluster)), NewKey(),
                                                  now - std::chrono::hours(30 * 24)))) {}

  static identity::PrivateKey NewKey() {
    return Must(identity::PrivateKey::Generate(identity::KeyKind::kP256));
  }
  const identity::Issuer& issuer() const { return issuer_; }
  std::vector<identity::Certificate> roots() const { return {issuer_.certificate()}; }
  std::string roots_pem() const { return issuer_.certificate().ToPem(); }

  Shown Server(const std::vector<std::string>& names = {"127.0.0.1", "localhost"}, Time at = {},
               identity::Lifetime life = identity::kControllerLifetime) const {
    std::vector<identity::ServerName> parsed;
    for (const std::string& name : names) parsed.push_back(Must(identity::ServerName::Parse(name)));
    const auto key = NewKey();
    return With(key, Must(issuer_.Controller(key.public_key(), parsed, Or(at), life)));
  }
  Shown Node(const std::string& uuid, Time at = {}, identity::Lifetime life = identity::kNodeLifetime) const {
    const auto key = NewKey();
    return With(key,
                Must(issuer_.Node(key.public_key(), Must(identity::NodeUuid::Parse(uuid)), Or(at), life)));
  }
  Shown Operator(const std::string& name, std::vector<std::string> roles, const std::string& scope = "*",
                 Time at = {}, identity::Lifetime life = identity::kOperatorLifetime) const {
    const auto key = NewKey();
    return With(key, Must(issuer_.Operator(key.public_key(), Must(identity::OperatorName::Parse(name)),
                                           {std::move(roles), scope}, Or(at), life)));
  }
  /// What somebody dials with who shows `shown` and wants this cluster's controller of that name.
  tls::ClientTerms Terms(const Shown& shown, const std::string& dialled = "127.0.0.1") const {
    return {shown.chain,
            shown.key,
            roots(),
            {issuer_.cluster(), identity::Purpose::kServer, Must(identity::ServerName::Parse(dialled))},
            [] { return std::chrono::system_clock::now(); }};
  }
  std::shared_ptr<grpc::ChannelCredentials> Credentials(const Shown& shown) const {
    return Must(tls::ClientCredentials(Terms(shown), std::make_shared<tls::Verdict>()));
  }
  /// A server's three files below `directory`.
  tls::ServerFiles Files(const Shown& server, const std::string& directory) const {
    const tls::ServerFiles files{directory + "/server.key", directory + "/server.pem",
                                 directory + "/roots.pem"};
    std::ofstream(files.key) << server.key;
    std::ofstream(files.chain) << server.chain;
    std::ofstream(files.roots) << roots_pem();
    return files;
  }

 private:
  Time Or(Time at) const { return at == Time{} ? now_ : at; }
  static Shown With(const identity::PrivateKey& key, const identity::Certificate& leaf) {
    return {leaf.ToPem(), std::string(Must(key.ToPem()).Reveal())};
  }

  Time now_;
  identity::Issuer issuer_;
};

}  // namespace railwright
