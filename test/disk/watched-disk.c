/*
 * Loaded before the C library (LD_PRELOAD), this stands between a program and its disk: it numbers the calls on files below
 * IO_ROOT and lists them in IO_CALLS, lets the one that IO_FAULT names fail, and writes all that reaches disk, network and
 * stdout to IO_TRACE, in its order.
 *
 * IO_FAULT is NUMBER:KIND, for the first call from that number on to which the kind applies:
 *   EIO     fails once                          SHORT  a write takes half of its bytes, once
 *   ENOSPC  fails once, where it needs room     FULL   a write takes half of its bytes, then nothing finds room any more
 *   KILL    the process ends before the call    TORN   the process ends when half of a write is done
 *
 * A line of IO_CALLS is "NUMBER CALL ROOM WRITES PATH"; the one that fails has "fault " before it. A record of IO_TRACE is a
 * struct record with its two pieces behind it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_FILES 4096

/* What a call needs or does, which says what can happen to it. */
enum { READS = 0, CHANGES = 1, NEEDS_ROOM = 2, WRITES = 4 };

struct record {
  char what;
  uint64_t file, at;
  uint32_t first, second;
} __attribute__((packed));

static char root[PATH_MAX];
static size_t root_length;
static int calls_fd = -1, trace_fd = -1;
static long fault_at = -1, called;
static char fault[16];
static int is_hit;
static char is_watched[MOST_FILES];
static pthread_mutex_t turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static int open_log(const char *name) {
  const char *path = getenv(name);
  return path == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

__attribute__((constructor)) static void begin(void) {
  const char *given = getenv("IO_ROOT"), *planned = getenv("IO_FAULT");
  if (given == NULL || realpath(given, root) == NULL) return;
  root_length = strlen(root);
  calls_fd = open_log("IO_CALLS");
  trace_fd = open_log("IO_TRACE");
  if (planned != NULL) sscanf(planned, "%ld:%15s", &fault_at, fault);
  /* What it starts is another program, whose calls are not to fail; what it does to the disk belongs to the record. */
  if (trace_fd < 0) unsetenv("LD_PRELOAD");
}

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }
#define NEXT(name) ({ static typeof(&name) real; if (real == NULL) real = (typeof(&name))next(#name); real; })

static int is_below(const char *path) {
  return root_length > 0 && strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0);
}

static const char *absolute(const char *path, char *buffer) {
  if (path[0] == '/') return path;
  if (getcwd(buffer, PATH_MAX) == NULL) return path;
  size_t length = strlen(buffer);
  snprintf(buffer + length, PATH_MAX - length, "/%s", path);
  return buffer;
}

static int is_of_ours(int fd) { return fd >= 0 && fd < MOST_FILES && is_watched[fd]; }

static const char *path_of(int fd, char *buffer) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, buffer, PATH_MAX - 1);
  buffer[length < 0 ? 0 : length] = 0;
  return buffer;
}

static uint64_t file_of(int fd) {
  struct stat found;
  return fstat(fd, &found) == 0 ? found.st_ino : 0;
}

static void put(char what, uint64_t file, uint64_t at, const void *first, size_t length, const void *second, size_t rest) {
  if (trace_fd < 0) return;
  struct record head = { what, file, at, (uint32_t)length, (uint32_t)rest };
  struct iovec parts[] = { { &head, sizeof head }, { (void *)first, length }, { (void *)second, rest } };
  syscall(SYS_writev, trace_fd, parts, 3);
}
static void put_paths(char what, const char *from, const char *to) {
  put(what, 0, 0, from, strlen(from), to, to == NULL ? 0 : strlen(to));
}

static void list(const char *before, long number, const char *name, int kind, const char *path) {
  char line[PATH_MAX + 64];
  int length = snprintf(line, sizeof line, "%s%ld %s %d %s\n", before, number, name, kind, path);
  if (calls_fd >= 0) syscall(SYS_write, calls_fd, line, length);
}

static void end_here(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* Whether the call goes on as it is (0), takes half of its bytes (1), or fails (-1, with errno). The turn is taken: see `done`. */
static int begun(const char *name, int kind, const char *path) {
  pthread_mutex_lock(&turn);
  long number = ++called;
  list("", number, name, kind, path);
  if (fault_at < 0 || number < fault_at) return 0;
  int is_full = strcmp(fault, "FULL") == 0;
  if (is_hit && !(is_full && (kind & NEEDS_ROOM))) return 0;
  if ((strcmp(fault, "ENOSPC") == 0 || is_full) && !(kind & NEEDS_ROOM)) return 0;
  if ((strcmp(fault, "SHORT") == 0 || strcmp(fault, "TORN") == 0) && !(kind & WRITES)) return 0;
  if (strcmp(fault, "KILL") == 0 && kind == READS) return 0;
  int is_first = !is_hit;
  is_hit = 1;
  if (is_first) list("fault ", number, name, kind, path);
  if (strcmp(fault, "KILL") == 0) end_here();
  if (strcmp(fault, "SHORT") == 0 || strcmp(fault, "TORN") == 0 || (is_full && is_first && (kind & WRITES))) return 1;
  errno = strcmp(fault, "EIO") == 0 ? EIO : ENOSPC;
  return -1;
}

static void done(int way) {
  if (way == 1 && strcmp(fault, "TORN") == 0) end_here();
  pthread_mutex_unlock(&turn);
}

#define DO(type, name, kind, path, real, record) ({ \
  int way_ = begun(name, kind, path); \
  type result = way_ < 0 ? (type)-1 : (type)(real); \
  int error_ = errno; \
  if (way_ >= 0 && result != (type)-1) { record; } \
  done(way_); \
  errno = error_; \
  result; })

/* Opening. */
static int opened(int folder, const char *path, int flags, mode_t mode) {
  char buffer[PATH_MAX];
  const char *full = folder == AT_FDCWD || path[0] == '/' ? absolute(path, buffer) : path;
  if (!is_below(full)) return (int)syscall(SYS_openat, folder, path, flags, mode);
  int kind = flags & (O_CREAT | O_TRUNC) ? CHANGES | (flags & O_CREAT ? NEEDS_ROOM : 0) : READS;
  struct stat before;
  return DO(int, "open", kind, full, (before.st_ino = 0, stat(full, &before), syscall(SYS_openat, folder, path, flags, mode)), {
    if (result < MOST_FILES) is_watched[result] = 1;
    uint64_t file = file_of(result);
    if (flags & O_CREAT && before.st_ino == 0) put('c', file, 0, full, strlen(full), NULL, 0);
    else if (flags & O_TRUNC) put('t', file, 0, NULL, 0, NULL, 0);
  });
}
#define MODE_OF(flags) mode_t mode = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }
int open(const char *path, int flags, ...) { MODE_OF(flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE_OF(flags) return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE_OF(flags) return opened(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE_OF(flags) return opened(folder, path, flags | O_LARGEFILE, mode); }
int close(int fd) {
  if (fd >= 0 && fd < MOST_FILES) is_watched[fd] = 0;
  return NEXT(close)(fd);
}

/* Reading. */
#define ON_FILE(type, name, kind, real, record) ({ \
  char buffer_[PATH_MAX]; \
  is_of_ours(fd) ? DO(type, name, kind, path_of(fd, buffer_), real, record) : (type)(real); })
ssize_t read(int fd, void *bytes, size_t size) { return ON_FILE(ssize_t, "read", READS, NEXT(read)(fd, bytes, size), ); }
ssize_t pread(int fd, void *bytes, size_t size, off_t at) { return ON_FILE(ssize_t, "read", READS, NEXT(pread)(fd, bytes, size, at), ); }
ssize_t pread64(int fd, void *bytes, size_t size, off64_t at) { return ON_FILE(ssize_t, "read", READS, NEXT(pread64)(fd, bytes, size, at), ); }
ssize_t readv(int fd, const struct iovec *parts, int count) { return ON_FILE(ssize_t, "read", READS, NEXT(readv)(fd, parts, count), ); }
ssize_t preadv(int fd, const struct iovec *parts, int count, off_t at) { return ON_FILE(ssize_t, "read", READS, NEXT(preadv)(fd, parts, count, at), ); }
void *mmap(void *where, size_t size, int use, int flags, int fd, off_t at) {
  return ON_FILE(void *, "mmap", READS, (void *)syscall(SYS_mmap, where, size, use, flags, fd, at), );
}
void *mmap64(void *where, size_t size, int use, int flags, int fd, off64_t at) {
  return ON_FILE(void *, "mmap", READS, (void *)syscall(SYS_mmap, where, size, use, flags, fd, at), );
}

/* Writing. */
static void put_written(int fd, uint64_t at, const struct iovec *parts, int count, ssize_t length) {
  for (int index = 0; index < count && length > 0; index += 1) {
    size_t taken = parts[index].iov_len < (size_t)length ? parts[index].iov_len : (size_t)length;
    put('w', file_of(fd), at, NULL, 0, parts[index].iov_base, taken);
    at += taken;
    length -= taken;
  }
}
/* What leaves by other ways than files is written down before it does: what is on disk then is what counts. */
static void put_sent(int fd, const struct iovec *parts, int count) {
  struct stat found;
  if (trace_fd < 0 || fstat(fd, &found) != 0 || !(S_ISSOCK(found.st_mode) || fd == 1)) return;
  pthread_mutex_lock(&turn);
  for (int index = 0; index < count; index += 1) put(fd == 1 ? 'o' : 's', found.st_ino, 0, NULL, 0, parts[index].iov_base, parts[index].iov_len);
  pthread_mutex_unlock(&turn);
}
static ssize_t written(int fd, const struct iovec *parts, int count, off_t at) {
  if (!is_of_ours(fd)) {
    put_sent(fd, parts, count);
    return at < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, at, 0);
  }
  char buffer[PATH_MAX];
  struct iovec half = { parts[0].iov_base, (parts[0].iov_len + 1) / 2 };
  off_t start = at;
  if (at < 0) start = fcntl(fd, F_GETFL) & O_APPEND ? lseek(fd, 0, SEEK_END) : lseek(fd, 0, SEEK_CUR);
  return DO(ssize_t, "write", CHANGES | NEEDS_ROOM | WRITES, path_of(fd, buffer),
    ({ const struct iovec *given = way_ == 1 ? &half : parts; int many = way_ == 1 ? 1 : count;
       at < 0 ? syscall(SYS_writev, fd, given, many) : syscall(SYS_pwritev, fd, given, many, at, 0); }),
    put_written(fd, start, parts, count, result));
}
ssize_t write(int fd, const void *bytes, size_t size) { return written(fd, &(struct iovec){ (void *)bytes, size }, 1, -1); }
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) { return written(fd, &(struct iovec){ (void *)bytes, size }, 1, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) { return written(fd, &(struct iovec){ (void *)bytes, size }, 1, at); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return written(fd, parts, count, -1); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return written(fd, parts, count, at); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) { return written(fd, parts, count, at); }
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  put_sent(fd, message->msg_iov, (int)message->msg_iovlen);
  return NEXT(sendmsg)(fd, message, flags);
}
/* Copies within the kernel are left to the program, which then reads and writes. */
ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *there, size_t size, unsigned flags) { errno = ENOSYS; return -1; }
ssize_t sendfile64(int to, int fd, off64_t *at, size_t size) { errno = EINVAL; return -1; }
ssize_t sendfile(int to, int fd, off_t *at, size_t size) { errno = EINVAL; return -1; }
long syscall(long number, ...) {
  long given[6];
  va_list more;
  va_start(more, number);
  for (int index = 0; index < 6; index += 1) given[index] = va_arg(more, long);
  va_end(more);
  if (number == SYS_copy_file_range) { errno = ENOSYS; return -1; }
  if (number == SYS_close && given[0] >= 0 && given[0] < MOST_FILES) is_watched[given[0]] = 0;
  return NEXT(syscall)(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
int ftruncate(int fd, off_t size) { return ON_FILE(int, "truncate", CHANGES | NEEDS_ROOM, NEXT(ftruncate)(fd, size), put('t', file_of(fd), size, NULL, 0, NULL, 0)); }
int ftruncate64(int fd, off64_t size) { return ON_FILE(int, "truncate", CHANGES | NEEDS_ROOM, NEXT(ftruncate64)(fd, size), put('t', file_of(fd), size, NULL, 0, NULL, 0)); }
int fallocate64(int fd, int mode, off64_t at, off64_t size) { errno = EOPNOTSUPP; return -1; }
int posix_fallocate64(int fd, off64_t at, off64_t size) { return EOPNOTSUPP; }
int fchmod(int fd, mode_t mode) { return ON_FILE(int, "chmod", CHANGES, NEXT(fchmod)(fd, mode), ); }
/* A folder's flush has its path, a file's its number. */
static void put_flushed(int fd) {
  struct stat found;
  char buffer[PATH_MAX];
  if (fstat(fd, &found) != 0) return;
  if (S_ISDIR(found.st_mode)) put_paths('F', path_of(fd, buffer), NULL);
  else put('f', found.st_ino, 0, NULL, 0, NULL, 0);
}
int fsync(int fd) { return ON_FILE(int, "fsync", CHANGES | NEEDS_ROOM, NEXT(fsync)(fd), put_flushed(fd)); }
int fdatasync(int fd) { return ON_FILE(int, "fsync", CHANGES | NEEDS_ROOM, NEXT(fdatasync)(fd), put_flushed(fd)); }
/* The whole disk, by the program sync(1). */
int syncfs(int fd) { return ON_FILE(int, "fsync", CHANGES | NEEDS_ROOM, NEXT(syncfs)(fd), put('S', 0, 0, NULL, 0, NULL, 0)); }

/* Names. */
#define ON_NAME(name, kind, real, record) \
  char buffer[PATH_MAX]; \
  const char *full = absolute(path, buffer); \
  if (!is_below(full)) return real; \
  return DO(int, name, kind, full, real, record)
int unlink(const char *path) { ON_NAME("unlink", CHANGES, NEXT(unlink)(path), put_paths('u', full, NULL)); }
int rmdir(const char *path) { ON_NAME("rmdir", CHANGES, NEXT(rmdir)(path), put_paths('u', full, NULL)); }
int mkdir(const char *path, mode_t mode) { ON_NAME("mkdir", CHANGES | NEEDS_ROOM, NEXT(mkdir)(path, mode), put_paths('m', full, NULL)); }
int chmod(const char *path, mode_t mode) { ON_NAME("chmod", CHANGES, NEXT(chmod)(path, mode), ); }
int truncate64(const char *path, off64_t size) { ON_NAME("truncate", CHANGES | NEEDS_ROOM, NEXT(truncate64)(path, size), ); }
int link(const char *from, const char *path) { char other[PATH_MAX]; ON_NAME("link", CHANGES | NEEDS_ROOM, NEXT(link)(from, path), put_paths('l', absolute(from, other), full)); }
int rename(const char *from, const char *path) { char other[PATH_MAX]; ON_NAME("rename", CHANGES | NEEDS_ROOM, NEXT(rename)(from, path), put_paths('r', absolute(from, other), full)); }
