#include "controller/cli/logins.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files/whole_file.h"

namespace railwright::cli {
namespace {

constexpr std::size_t kFileMost = 256 << 10;

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= 64 && name[0] != '.' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-._") == std::string::npos;
}

Result<std::string> Read(const std::string& path) { return ReadWholeFile(path, kFileMost); }

Result<std::vector<identity::Endpoint>> Endpoints(const nlohmann::json& list) {
  std::vector<identity::Endpoint> endpoints;
  for (const auto& one : list) {
    RW_ASSIGN_OR_RETURN(identity::Endpoint endpoint, identity::Endpoint::Parse(one.get<std::string>()));
    endpoints.push_back(std::move(endpoint));
  }
  return endpoints;
}

nlohmann::json Texts(const std::vector<identity::Endpoint>& endpoints) {
  auto list = nlohmann::json::array();
  for (const identity::Endpoint& one : endpoints) list.push_back(one.Text());
  return list;
}

Result<std::shared_ptr<const Login>> LoadFrom(const std::string& folder, const std::string& name) {
  RW_ASSIGN_OR_RETURN(const std::string text, Read(folder + "/context.json"));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.value("controllers", nlohmann::json()).is_array() ||
      !json.value("enrolment", nlohmann::json()).is_array())
    return Status(Code::kDataLoss, "no context");
  RW_ASSIGN_OR_RETURN(identity::ClusterName cluster, identity::ClusterName::Parse(json.value("cluster", "")));
  RW_ASSIGN_OR_RETURN(const std::string key_pem, ReadPrivateFile(folder + "/key.pem", kFileMost));
  RW_ASSIGN_OR_RETURN(identity::PrivateKey key, identity::PrivateKey::FromPem(key_pem));
  RW_ASSIGN_OR_RETURN(const std::string chain_pem, Read(folder + "/chain.pem"));
  RW_ASSIGN_OR_RETURN(std::vector<identity::Certificate> chain,
                      identity::Certificate::ChainFromPem(chain_pem));
  RW_ASSIGN_OR_RETURN(const std::string roots_pem, Read(folder + "/roots.pem"));
  RW_ASSIGN_OR_RETURN(std::vector<identity::Certificate> roots,
                      identity::Certificate::ChainFromPem(roots_pem));
  RW_ASSIGN_OR_RETURN(std::vector<identity::Endpoint> controllers, Endpoints(json["controllers"]));
  RW_ASSIGN_OR_RETURN(std::vector<identity::Endpoint> enrolment, Endpoints(json["enrolment"]));
  if (controllers.empty()) return Status(Code::kDataLoss, "it names no controller");
  if (chain.front().public_key() != key.public_key())
    return Status(Code::kDataLoss, "key.pem is not the key of chain.pem");
  return std::shared_ptr<const Login>(new Login{name, std::move(cluster), json.value("operator", ""),
                                                std::move(key), std::move(chain), std::move(roots),
                                                std::move(controllers), std::move(enrolment),
                                                json.value("renewals", std::uint64_t{0})});
}

}  // namespace

std::vector<std::string> Logins::Names() const {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_ + "/contexts", error))
    if (entry.is_directory(error) && IsName(entry.path().filename().string()))
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string Logins::InUse() const {
  const auto text = Read(directory_ + "/in-use");
  if (!text.ok()) return {};
  std::string name = text->substr(0, text->find('\n'));
  return IsName(name) ? name : "";
}

Result<std::shared_ptr<const Login>> Logins::Load(const std::string& name) const {
  const std::string wanted = name.empty() ? InUse() : name;
  const std::vector<std::string> names = Names();
  if (wanted.empty() || std::find(names.begin(), names.end(), wanted) == names.end()) {
    std::string there;
    for (const std::string& one : names) there += (there.empty() ? "" : ", ") + one;
    return Status(
        Code::kNotFound,
        (wanted.empty() ? "no context is in use" : "there is no context \"" + wanted + "\"") +
            (there.empty() ? "" : " (there are: " + there + ")") +
            "\nnext: railctl login LINE, with the line that an administrator makes with railctl token "
            "create --operator NAME --role ROLE");
  }
  auto login = LoadFrom(Folder(wanted), wanted);
  if (!login.ok() && login.status().code() != Code::kFailedPrecondition)
    return Status(Code::kDataLoss, "context " + wanted + " in " + Folder(wanted) + " is damaged: " +
                                       login.status().message() + "\nnext: railctl login anew");
  return login;
}

Status Logins::Save(const Login& login) const {
  if (!IsName(login.context))
    return Status(Code::kInvalidArgument,
                  "a context's name is made of a-z, 0-9, \"-\", \".\" and \"_\", at most 64");
  const std::string folder = Folder(login.context);
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(directory_).parent_path(), error);
  if (error) return FromErrno(error.value(), directory_);
  const FileTerms mine{.mode = 0700};
  for (const std::string& one : {directory_, directory_ + "/contexts", folder})
    RW_RETURN_IF_ERROR(MakeFolder(one, mine));
  RW_ASSIGN_OR_RETURN(const identity::Secret key, login.key.ToPem());
  RW_RETURN_IF_ERROR(WriteWholeFile(folder + "/key.pem", key.Reveal()));
  RW_RETURN_IF_ERROR(WriteWholeFile(folder + "/roots.pem", identity::Certificate::ChainToPem(login.roots)));
  const nlohmann::json json = {{"cluster", login.cluster.text()},
                               {"operator", login.operator_name},
                               {"controllers", Texts(login.controllers)},
                               {"enrolment", Texts(login.enrolment)},
                               {"renewals", login.renewals}};
  RW_RETURN_IF_ERROR(WriteWholeFile(folder + "/context.json", json.dump(2) + "\n"));
  RW_RETURN_IF_ERROR(WriteWholeFile(folder + "/chain.pem", identity::Certificate::ChainToPem(login.chain)));
  return InUse().empty() ? Use(login.context) : Ok();
}

Status Logins::Use(const std::string& name) const {
  const std::vector<std::string> names = Names();
  if (std::find(names.begin(), names.end(), name) == names.end()) return Load(name).status();
  return WriteWholeFile(directory_ + "/in-use", name + "\n");
}

Status Logins::Remove(const std::string& name) const {
  const std::vector<std::string> names = Names();
  if (std::find(names.begin(), names.end(), name) == names.end()) return Load(name).status();
  std::error_code error;
  std::filesystem::remove_all(Folder(name), error);
  if (error) return FromErrno(error.value(), Folder(name));
  if (InUse() == name) (void)unlink((directory_ + "/in-use").c_str());
  return Ok();
}

}  // namespace railwright::cli
