// A gzip file written as a stream. Equal bytes in give equal bytes out: the header carries no time and no name.
#pragma once

#include <string>
#include <string_view>

namespace rehearse {

class GzipFile {
public:
    // OutputError when the file cannot be made.
    explicit GzipFile(std::string path);
    ~GzipFile();
    GzipFile(const GzipFile&) = delete;
    GzipFile& operator=(const GzipFile&) = delete;

    void write(std::string_view text);  // buffered; OutputError when the disk refuses
    void close();                       // flushes all; the destructor closes too, but cannot report an error

private:
    void flush();
    [[noreturn]] void fail(std::string_view what) const;

    std::string path_;
    void* file_ = nullptr;  // gzFile of zlib, which stays out of this header
    std::string buffer_;
};

}  // namespace rehearse
