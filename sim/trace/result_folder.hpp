// A results folder that appears whole or not at all.
//
// Files are written into a hidden folder beside the final one (".NAME.partial-PID-N") and publish() renames it into
// place in one step. A run that is killed half-way leaves nothing under the final name, and an older result there stays
// as it was. An existing folder is replaced only if it is a results folder (it has metrics.json) or empty; anything
// else is an InputError, raised by the constructor, before the work begins, and again by publish().
//
//     ResultFolder folder("results/demo");
//     write_metrics(folder.file("metrics.json"), metrics);
//     folder.publish();                                     // without it the destructor removes the hidden folder
//
// Errors of the file system: OutputError.
#pragma once

#include <filesystem>
#include <string>

namespace rehearse {

class ResultFolder {
public:
    explicit ResultFolder(const std::string& final_path);
    ~ResultFolder();
    ResultFolder(const ResultFolder&) = delete;
    ResultFolder& operator=(const ResultFolder&) = delete;

    // Path to write `name` to; folders in it are made. Of the hidden folder before publish(), of the final one after.
    std::string file(const std::string& name) const;
    const std::filesystem::path& path() const { return published_ ? final_ : partial_; }
    const std::filesystem::path& final_path() const { return final_; }
    void publish();

private:
    std::filesystem::path final_;
    std::filesystem::path partial_;
    bool published_ = false;
};

}  // namespace rehearse
