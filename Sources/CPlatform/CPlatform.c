#define _GNU_SOURCE
#include "CPlatform.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/filter.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#endif

int64_t eb_thread_id(void) {
#ifdef __linux__
  return (int64_t)syscall(SYS_gettid);
#else
  uint64_t id = 0;
  pthread_threadid_np(NULL, &id);
  return (int64_t)id;
#endif
}

static void set_of_requests(sigset_t *set) {
  sigemptyset(set);
  sigaddset(set, SIGTERM);
  sigaddset(set, SIGINT);
  sigaddset(set, SIGHUP);
}

int eb_hold_signals(void) {
  sigset_t set;
  set_of_requests(&set);
  int failed = pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (!failed) return 0;
  errno = failed;
  return -1;
}

int eb_hang_up_is_ignored(void) {
  struct sigaction action;
  return sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void eb_set_thread_name(const char *name) {
#ifdef __linux__
  char kept[16];
  snprintf(kept, sizeof kept, "%s", name);
  pthread_setname_np(pthread_self(), kept);
#else
  pthread_setname_np(name);
#endif
}

static int64_t clock_ns(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
int64_t eb_monotonic_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
int64_t eb_realtime_ns(void) { return clock_ns(CLOCK_REALTIME); }
int64_t eb_cpu_ns_of_process(int pid) {
#ifdef __linux__
  clockid_t clock;
  if (clock_getcpuclockid(pid, &clock) == 0) return clock_ns(clock);
#endif
  return -1;
}

int64_t eb_process_cpu_ns(void) { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

int64_t eb_process_resident_bytes(void) {
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  long total = 0, resident = 0;
  int fields = fscanf(file, "%ld %ld", &total, &resident);
  fclose(file);
  return fields == 2 ? (int64_t)resident * sysconf(_SC_PAGESIZE) : 0;
}

#ifdef __linux__
int eb_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

int eb_timerfd(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC); }

int eb_timerfd_arm(int fd, int64_t nanoseconds) {
  if (nanoseconds < 1) nanoseconds = 1;  // Zero would disarm it.
  struct itimerspec spec = {
      .it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
  return timerfd_settime(fd, 0, &spec, NULL);
}

int eb_signalfd(void) {
  sigset_t set;
  set_of_requests(&set);
  if (eb_hold_signals()) return -1;
  return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int eb_signalfd_read(int fd) {
  struct signalfd_siginfo info;
  ssize_t n = read(fd, &info, sizeof info);
  if (n == (ssize_t)sizeof info) return (int)info.ssi_signo;
  return n < 0 && errno != EAGAIN && errno != EINTR ? -1 : 0;
}

void eb_die_with_parent(int signal) { prctl(PR_SET_PDEATHSIG, signal); }
#else
int eb_eventfd(void) {
  errno = ENOSYS;
  return -1;
}
int eb_timerfd(void) {
  errno = ENOSYS;
  return -1;
}
int eb_timerfd_arm(int fd, int64_t nanoseconds) {
  (void)fd;
  (void)nanoseconds;
  errno = ENOSYS;
  return -1;
}
int eb_signalfd(void) {
  errno = ENOSYS;
  return -1;
}
int eb_signalfd_read(int fd) {
  (void)fd;
  errno = ENOSYS;
  return -1;
}
void eb_die_with_parent(int signal) { (void)signal; }
#endif

struct eb_gate {
  pthread_mutex_t mutex;
  pthread_cond_t opened;
  int is_open;
};

eb_gate *eb_gate_new(void) {
  eb_gate *gate = calloc(1, sizeof *gate);
  if (!gate) return NULL;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
#ifdef __linux__
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
#endif
  pthread_mutex_init(&gate->mutex, NULL);
  pthread_cond_init(&gate->opened, &attributes);
  pthread_condattr_destroy(&attributes);
  return gate;
}

void eb_gate_free(eb_gate *gate) {
  pthread_cond_destroy(&gate->opened);
  pthread_mutex_destroy(&gate->mutex);
  free(gate);
}

void eb_gate_open(eb_gate *gate) {
  pthread_mutex_lock(&gate->mutex);
  gate->is_open = 1;
  pthread_cond_signal(&gate->opened);
  pthread_mutex_unlock(&gate->mutex);
}

static int wait_at_most(eb_gate *gate, int64_t nanoseconds) {
#ifdef __APPLE__
  struct timespec wait = {
      .tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  return pthread_cond_timedwait_relative_np(&gate->opened, &gate->mutex, &wait);
#else
  int64_t end = clock_ns(CLOCK_MONOTONIC) + nanoseconds;
  struct timespec until = {.tv_sec = end / 1000000000, .tv_nsec = end % 1000000000};
  return pthread_cond_timedwait(&gate->opened, &gate->mutex, &until);
#endif
}

void eb_gate_wait(eb_gate *gate, int64_t nanoseconds) {
  pthread_mutex_lock(&gate->mutex);
  int failed = 0;
  while (!gate->is_open && !failed)
    failed = nanoseconds < 0 ? pthread_cond_wait(&gate->opened, &gate->mutex)
                             : wait_at_most(gate, nanoseconds);
  gate->is_open = 0;
  pthread_mutex_unlock(&gate->mutex);
}

void eb_release_freed_memory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

static pthread_mutex_t files = PTHREAD_MUTEX_INITIALIZER;
// A journal keeps up to 64 segments open.
static const rlim_t most_reserved = 160;

uint64_t eb_raise_open_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit)) return 0;
  rlim_t reserve = limit.rlim_max / 3 < most_reserved ? limit.rlim_max / 3 : most_reserved;
  limit.rlim_cur = limit.rlim_max - reserve;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

// Whoever was let in while the limit was up has a file beyond it, which nothing but the reserve has otherwise. Ended
// by the peer's side of things, so that the owner closes it as it closes any connection that is gone.
static void end_connections(rlim_t first, rlim_t last) {
  for (rlim_t fd = first; fd < last; fd++) {
    struct stat status;
    if (fstat((int)fd, &status) == 0 && S_ISSOCK(status.st_mode)) shutdown((int)fd, SHUT_RDWR);
  }
}

int eb_open(const char *path, int flags, int mode) {
  int fd = open(path, flags, mode);
  if (fd >= 0 || errno != EMFILE) return fd;
  struct rlimit usual, all;
  pthread_mutex_lock(&files);
  if (getrlimit(RLIMIT_NOFILE, &usual) == 0) {
    all = usual;
    all.rlim_cur = usual.rlim_max;
    setrlimit(RLIMIT_NOFILE, &all);
    fd = open(path, flags, mode);
    int code = errno;
    setrlimit(RLIMIT_NOFILE, &usual);
    rlim_t end = usual.rlim_cur + most_reserved;
    end_connections(usual.rlim_cur, end < usual.rlim_max ? end : usual.rlim_max);
    errno = code;
  }
  pthread_mutex_unlock(&files);
  return fd;
}

int64_t eb_open_files(uint64_t *limit) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files)) return -1;
  *limit = files.rlim_cur;
  int fd = eb_open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  DIR *directory = fd < 0 ? NULL : fdopendir(fd);
  if (!directory) {
    if (fd >= 0) close(fd);
    return -1;
  }
  int64_t count = -3;  // ".", ".." and the directory itself
  while (readdir(directory)) count++;
  closedir(directory);
  return count;
}

#ifdef __linux__
// The states of a TCP socket in the kernel's count; the headers that name them do not go together.
enum { established = 1, close_wait = 8, listening = 10 };

/// Of a TCP socket that has this port; -1 of anything else. What TCP_INFO told is in `info`.
static int tcp_state(int fd, uint16_t port, struct tcp_info *info, socklen_t *size) {
  struct sockaddr_storage address;
  socklen_t address_size = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &address_size)) return -1;
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return -1;
  // Both kinds of address have the port at the same place.
  if (ntohs(((struct sockaddr_in *)&address)->sin_port) != port) return -1;
  *size = sizeof *info;
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, size) ? -1 : info->tcpi_state;
}
#endif

uint64_t eb_received_bytes(int fd, uint16_t port) {
#ifdef __linux__
  struct tcp_info info;
  socklen_t size;
  int state = tcp_state(fd, port, &info, &size);
  if (state != established && state != close_wait) return UINT64_MAX;
  return size > offsetof(struct tcp_info, tcpi_bytes_received) ? info.tcpi_bytes_received : UINT64_MAX;
#else
  (void)fd, (void)port;
  return UINT64_MAX;
#endif
}

int eb_pause_listener(int fd, uint16_t port, int is_paused) {
#ifdef __linux__
  struct tcp_info info;
  socklen_t size;
  if (tcp_state(fd, port, &info, &size) != listening) return -1;
  if (!is_paused) return setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &(int){0}, sizeof(int));
  // A socket filter that takes no byte of any packet: what asks for a connection is dropped.
  struct sock_filter nothing = {.code = BPF_RET | BPF_K};
  struct sock_fprog program = {.len = 1, .filter = &nothing};
  return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
#else
  (void)fd, (void)port, (void)is_paused;
  return -1;
#endif
}

void eb_abort_connection(int fd) {
#ifdef __linux__
  // See connect(2): an address of no family dissolves the association.
  struct sockaddr none = {.sa_family = AF_UNSPEC};
  connect(fd, &none, sizeof none);
#endif
  shutdown(fd, SHUT_RDWR);
}

void eb_keep_freed_memory(int bytes) {
#ifdef __GLIBC__
  // Blocks over 32 MiB (the most that glibc allows) are still mapped one by one.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, bytes);
  // One arena: what one thread frees serves all, and the bound above holds once, not once a thread.
  mallopt(M_ARENA_MAX, 1);
#else
  (void)bytes;
#endif
}

void eb_reserve_memory(size_t bytes) {
#ifdef __GLIBC__
  enum { block = 8 << 20, most = 64 };
  void *blocks[most];
  size_t count = 0;
  for (; count < most && count * block < bytes; count++) {
    blocks[count] = malloc(block);
    if (!blocks[count]) break;
    memset(blocks[count], 1, block);
    // Without this the compiler may see that nobody reads it, and leave both out.
    __asm__ volatile("" : : "r"(blocks[count]) : "memory");
  }
  while (count) free(blocks[--count]);
#else
  (void)bytes;
#endif
}
