// A results folder that appears whole or not at all.
//
// Files are written into a hidden folder beside the final one (".NAME.partial-PID-N") and publish() renames it into
// place in one step. A run that is killed half-way leaves nothing under the final name, and an older result there stays
// as it was. An existing folder is replaced only if it is a results folder (its metrics.json begins with
// schema_version) or empty; anything else is an InputError, raised by the constructor, before the work begins, and
// again by publish().
// What else lies in the replaced folder (a report, notes) is kept: publish() links it into the new one first.
//
//     ResultFolder folder("results/demo");
//     write_metrics(folder.file("metrics.json"), metrics);
//     folder.publish();                                     // without it the destructor removes the hidden folder
//
// Errors of the file system: InputError where the folder cannot be made, OutputError later.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

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
    // Another last part of the path, for a name that is known at the end only.
    void rename(const std::string& final_path);
    void publish();
    // Removes the hidden folder; nothing can be written afterwards.
    void discard();
    // Names of what was there before and is not part of the new result, sorted. Known after publish().
    const std::vector<std::string>& kept() const { return kept_; }

private:
    void keep_others();

    std::filesystem::path final_;
    std::filesystem::path partial_;
    std::vector<std::string> kept_;
    bool published_ = false;
};

}  // namespace rehearse
