#include "support/crash_vfs.hpp"

#include <fcntl.h>
#include <signal.h>  // for kill
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <map>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::test {
namespace {

constexpr const char* kName = "shoal_crash";

enum class Operation { create, write, sync, truncate, remove, map, lock, barrier };

[[noreturn]] void kill_this_process() {
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}

// ---- the disk, as power loss would leave it ----

struct Change {
  bool truncates = false;
  std::size_t offset = 0;  // of a truncation: the new size
  std::string bytes;
};

struct DiskFile {
  std::string synced;           // its content at the last sync
  std::vector<Change> pending;  // since then
  bool entry_is_durable = true;
  bool is_journal = false;  // SQLite syncs the folder with the first sync of a new journal
};

std::string read_all(const std::string& path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  std::string content(static_cast<std::size_t>(std::max<std::streamoff>(stream.tellg(), 0)), '\0');
  stream.seekg(0);
  stream.read(content.data(), static_cast<std::streamsize>(content.size()));
  return content;
}

class Disk {
 public:
  void open(const std::string& path, bool existed, bool is_journal) {
    if (files_.contains(path)) return;
    DiskFile file;
    file.entry_is_durable = existed;
    file.is_journal = is_journal;
    if (existed) file.synced = read_all(path);
    files_[path] = file;
  }

  void change(const std::string& path, Change change) {
    files_[path].pending.push_back(std::move(change));
  }

  void sync(const std::string& path) {
    DiskFile& file = files_[path];
    file.synced = read_all(path);
    file.pending.clear();
    if (file.is_journal && !file.entry_is_durable) sync_folder();
  }

  void remove(const std::string& path, bool and_sync_folder) {
    const auto found = files_.find(path);
    if (found != files_.end()) {
      if (found->second.entry_is_durable) removed_[path] = found->second;
      files_.erase(found);
    }
    if (and_sync_folder) sync_folder();
  }

  void map(const std::string& path) { shared_memory_.push_back(path + "-shm"); }

  void lose_power(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (const auto& [path, file] : files_) {
      if (!file.entry_is_durable && random() % 2 == 0) {
        ::unlink(path.c_str());
      } else {
        rewrite(path, file, random);
      }
    }
    for (const auto& [path, file] : removed_) {
      if (::access(path.c_str(), F_OK) != 0 && random() % 2 == 0) rewrite(path, file, random);
    }
    for (const std::string& path : shared_memory_) {
      if (random() % 2 == 0) ::unlink(path.c_str());
    }
  }

  void forget() { *this = Disk(); }

 private:
  void sync_folder() {
    removed_.clear();
    for (auto& [path, file] : files_) file.entry_is_durable = true;
  }

  static void apply(std::string& content, const Change& change, std::size_t kept) {
    if (change.truncates) {
      content.resize(change.offset);
      return;
    }
    if (content.size() < change.offset + kept) content.resize(change.offset + kept);
    content.replace(change.offset, kept, change.bytes, 0, kept);
  }

  // Half of the changes survive, a quarter in part.
  static void rewrite(const std::string& path, const DiskFile& file, std::mt19937_64& random) {
    std::string content = file.synced;
    for (const Change& change : file.pending) {
      const std::uint64_t choice = random() % 4;
      if (choice < 2) apply(content, change, change.bytes.size());
      if (choice == 2 && !change.truncates)
        apply(content, change, random() % (change.bytes.size() + 1));
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }

  std::map<std::string, DiskFile> files_;
  std::map<std::string, DiskFile> removed_;
  std::vector<std::string> shared_memory_;
};

// ---- the plan ----

CrashPlan plan;
int counted = 0;
Disk disk;
sqlite3_vfs* real;

bool is_error(Fault fault) {
  return fault == Fault::disk_full || fault == Fault::io_error || fault == Fault::read_only;
}

bool counts(Operation operation) {
  const bool on_file = operation < Operation::map;
  if (plan.fault == Fault::power_loss) return on_file;
  if (is_error(plan.fault)) return on_file || operation == Operation::map;
  return true;
}

int error_code(Operation operation) {
  // To SQLite a read-only mapping is no failure but another mode: not for a fault to claim.
  if (operation == Operation::map) return SQLITE_IOERR_SHMMAP;
  if (plan.fault == Fault::disk_full) return SQLITE_FULL;
  if (plan.fault == Fault::read_only) return SQLITE_READONLY;
  switch (operation) {
    case Operation::create:
      return SQLITE_CANTOPEN;
    case Operation::write:
      return SQLITE_IOERR_WRITE;
    case Operation::sync:
      return SQLITE_IOERR_FSYNC;
    case Operation::truncate:
      return SQLITE_IOERR_TRUNCATE;
    case Operation::remove:
      return SQLITE_IOERR_DELETE;
    default:
      return SQLITE_IOERR;
  }
}

// Does one operation: `whole` does it and records it, `half` does a part.
template <typename Whole, typename Half>
int run(Operation operation, Whole&& whole, Half&& half) {
  const bool now = counts(operation) && ++counted == plan.at;
  if (!now) return whole();
  if (is_error(plan.fault)) return error_code(operation);
  if (plan.fault == Fault::kill_half) half();
  if (plan.fault == Fault::kill_half || plan.fault == Fault::kill_before) kill_this_process();
  const int code = whole();
  if (plan.fault == Fault::power_loss) disk.lose_power(plan.seed);
  if (plan.fault != Fault::none) kill_this_process();
  return code;
}

template <typename Whole>
int run(Operation operation, Whole&& whole) {
  return run(operation, static_cast<Whole&&>(whole), [] {});
}

// ---- files ----

// What SQLite holds of a file: our part, then the real layer's.
struct CrashFile {
  sqlite3_file base;
  std::string* path;  // none: a temporary file without a name

  sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
static_assert(sizeof(CrashFile) % alignof(std::max_align_t) == 0);

CrashFile& own(sqlite3_file* file) { return *reinterpret_cast<CrashFile*>(file); }
sqlite3_file* inner(sqlite3_file* file) { return own(file).inner(); }

bool is_tracked(sqlite3_file* file) {
  return plan.fault == Fault::power_loss && own(file).path != nullptr;
}

int file_close(sqlite3_file* file) {
  const int code = inner(file)->pMethods->xClose(inner(file));
  delete own(file).path;
  return code;
}

int file_read(sqlite3_file* file, void* buffer, int amount, sqlite3_int64 offset) {
  return inner(file)->pMethods->xRead(inner(file), buffer, amount, offset);
}

int file_write(sqlite3_file* file, const void* bytes, int amount, sqlite3_int64 offset) {
  const auto write = [&](int size) {
    return inner(file)->pMethods->xWrite(inner(file), bytes, size, offset);
  };
  return run(
      Operation::write,
      [&] {
        const int code = write(amount);
        if (code == SQLITE_OK && is_tracked(file)) {
          const std::string_view text(static_cast<const char*>(bytes),
                                      static_cast<std::size_t>(amount));
          disk.change(*own(file).path,
                      {false, static_cast<std::size_t>(offset), std::string(text)});
        }
        return code;
      },
      [&] { write(amount / 2); });
}

int file_truncate(sqlite3_file* file, sqlite3_int64 size) {
  return run(Operation::truncate, [&] {
    const int code = inner(file)->pMethods->xTruncate(inner(file), size);
    if (code == SQLITE_OK && is_tracked(file))
      disk.change(*own(file).path, {true, static_cast<std::size_t>(size), {}});
    return code;
  });
}

int file_sync(sqlite3_file* file, int flags) {
  return run(Operation::sync, [&] {
    const int code = inner(file)->pMethods->xSync(inner(file), flags);
    if (code == SQLITE_OK && is_tracked(file)) disk.sync(*own(file).path);
    return code;
  });
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return inner(file)->pMethods->xFileSize(inner(file), size);
}

int file_lock(sqlite3_file* file, int level) {
  return inner(file)->pMethods->xLock(inner(file), level);
}

int file_unlock(sqlite3_file* file, int level) {
  return inner(file)->pMethods->xUnlock(inner(file), level);
}

int file_check_reserved_lock(sqlite3_file* file, int* result) {
  return inner(file)->pMethods->xCheckReservedLock(inner(file), result);
}

int file_control(sqlite3_file* file, int operation, void* argument) {
  return inner(file)->pMethods->xFileControl(inner(file), operation, argument);
}

int file_sector_size(sqlite3_file* file) { return inner(file)->pMethods->xSectorSize(inner(file)); }

int file_device_characteristics(sqlite3_file* file) {
  return inner(file)->pMethods->xDeviceCharacteristics(inner(file));
}

int shared_map(sqlite3_file* file, int page, int size, int extend, void volatile** memory) {
  return run(Operation::map, [&] {
    if (is_tracked(file)) disk.map(*own(file).path);
    return inner(file)->pMethods->xShmMap(inner(file), page, size, extend, memory);
  });
}

int shared_lock(sqlite3_file* file, int offset, int count, int flags) {
  return run(Operation::lock,
             [&] { return inner(file)->pMethods->xShmLock(inner(file), offset, count, flags); });
}

void shared_barrier(sqlite3_file* file) {
  run(Operation::barrier, [&] {
    inner(file)->pMethods->xShmBarrier(inner(file));
    return SQLITE_OK;
  });
}

int shared_unmap(sqlite3_file* file, int remove) {
  return inner(file)->pMethods->xShmUnmap(inner(file), remove);
}

// Version 2: no memory-mapped pages, so that every write is seen.
constexpr sqlite3_io_methods kMethods = {2,
                                         file_close,
                                         file_read,
                                         file_write,
                                         file_truncate,
                                         file_sync,
                                         file_size,
                                         file_lock,
                                         file_unlock,
                                         file_check_reserved_lock,
                                         file_control,
                                         file_sector_size,
                                         file_device_characteristics,
                                         shared_map,
                                         shared_lock,
                                         shared_barrier,
                                         shared_unmap,
                                         nullptr,
                                         nullptr};

int vfs_open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags,
             int* out_flags) {
  auto* opened = new (file) CrashFile{{nullptr}, nullptr};
  const bool existed = name && ::access(name, F_OK) == 0;
  const auto open = [&] {
    const int code = real->xOpen(real, name, opened->inner(), flags, out_flags);
    if (code != SQLITE_OK) return code;
    opened->base.pMethods = &kMethods;
    if (!name) return code;
    opened->path = new std::string(name);
    if (plan.fault == Fault::power_loss)
      disk.open(*opened->path, existed, (flags & SQLITE_OPEN_MAIN_DB) == 0);
    return code;
  };
  const bool creates = name && !existed && (flags & SQLITE_OPEN_CREATE) != 0;
  return creates ? run(Operation::create, open) : open();
}

int vfs_delete(sqlite3_vfs* /*vfs*/, const char* name, int sync_folder) {
  return run(Operation::remove, [&] {
    const int code = real->xDelete(real, name, sync_folder);
    if (code == SQLITE_OK && plan.fault == Fault::power_loss) disk.remove(name, sync_folder != 0);
    return code;
  });
}

}  // namespace

const char* crash_vfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_initialize();
    real = sqlite3_vfs_find("unix");
    sqlite3_vfs made = *real;
    made.szOsFile = static_cast<int>(sizeof(CrashFile)) + real->szOsFile;
    made.pNext = nullptr;
    made.zName = kName;
    made.xOpen = vfs_open;
    made.xDelete = vfs_delete;
    return made;
  }();
  static const int registered = sqlite3_vfs_register(&vfs, 0);
  return registered == SQLITE_OK ? kName : "";
}

void plan_crash(const CrashPlan& new_plan) {
  plan = new_plan;
  counted = 0;
  disk.forget();
}

int counted_operations() { return counted; }

}  // namespace shoal::test
