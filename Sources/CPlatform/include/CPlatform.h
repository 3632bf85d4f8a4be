// What Glibc's module map leaves out, and what needs a compiler intrinsic. Nothing here keeps state.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

/// CRC-32C (Castagnoli) of `length` bytes, continued from `seed` (0 to begin). Uses the processor's
/// instruction where there is one, eight-byte tables elsewhere.
uint32_t eb_crc32c(uint32_t seed, const void *bytes, size_t length);

/// A non-blocking, close-on-exec eventfd (a pipe elsewhere); -1 and errno on failure.
int eb_eventfd(void);
/// A non-blocking, close-on-exec timerfd, and the moment from now at which it becomes readable (once, at
/// least 1 ns ahead); -1 and errno on failure, and where there is none of the kind.
int eb_timerfd(void);
int eb_timerfd_arm(int fd, int64_t nanoseconds);
/// A gate for one waiting thread, by a mutex and a condition variable, for systems without eventfd. `wait`
/// returns when it was opened since the last wait, or after so many nanoseconds (negative: never).
typedef struct eb_gate eb_gate;
eb_gate *eb_gate_new(void);
void eb_gate_free(eb_gate *gate);
void eb_gate_open(eb_gate *gate);
void eb_gate_wait(eb_gate *gate, int64_t nanoseconds);
/// Gives memory that was freed, and that the allocator keeps, back to the system (glibc; nothing elsewhere).
void eb_release_freed_memory(void);
/// The kernel's id of the calling thread. `pthread_self` is marked const by glibc, so an optimiser may
/// fold two calls from different threads into one; this one may not be folded.
int64_t eb_thread_id(void);
/// Names the calling thread (15 bytes are kept).
void eb_set_thread_name(const char *name);
/// Nanoseconds of CLOCK_MONOTONIC and CLOCK_REALTIME.
int64_t eb_monotonic_ns(void);
int64_t eb_realtime_ns(void);
/// Blocks SIGTERM, SIGINT and SIGHUP for the calling thread and all it starts afterwards: they wait for
/// `eb_signalfd`. Returns 0; -1 and errno on failure.
int eb_hold_signals(void);
/// Not 0 where SIGHUP was ignored when the process started, as `nohup` does.
int eb_hang_up_is_ignored(void);
/// A signalfd for SIGTERM, SIGINT and SIGHUP, which are blocked for the calling thread and all it
/// starts afterwards; -1 and errno on failure.
int eb_signalfd(void);
/// The next signal that `fd` holds, 0 when there is none, -1 and errno on failure.
int eb_signalfd_read(int fd);
/// Raises the soft limit of open files to the hard limit but for a reserve, up to 160 files, which no
/// connection can take; returns the limit in force.
uint64_t eb_raise_open_files(void);
/// open(2), with the reserve of `eb_raise_open_files` where no other file can be opened. Any thread.
int eb_open(const char *path, int flags, int mode);
/// How many files are open, and in `limit` how many may be; -1 where the system does not tell.
int64_t eb_open_files(uint64_t *limit);
/// Bytes that came in by a TCP connection since it began; UINT64_MAX for anything but a connection whose end
/// here has this port, and on other systems than Linux.
uint64_t eb_received_bytes(int fd, uint16_t port);
/// Resets a connection that another owner reads, and throws away what came in by it and is not read yet;
/// shutdown(2) would leave that to be read. Its owner finds it closed and keeps the descriptor. Any thread.
void eb_abort_connection(int fd);
/// Lets a socket that listens on this port take no new connection, or take them again (Linux). Who connects
/// meanwhile is not refused: the kernel at the other end tries again, after a second first. 0 when it is such
/// a socket and it was done; -1 otherwise. Any thread.
int eb_pause_listener(int fd, uint16_t port, int is_paused);
/// Makes the allocator keep up to `bytes` of freed memory for the next use, large blocks included, instead
/// of giving it back and faulting it in again page by page (glibc; nothing elsewhere).
void eb_keep_freed_memory(int bytes);
/// Takes `bytes` (512 MiB at most) from the system, touches them and leaves them to the allocator, which
/// must be allowed to keep as much: a process then has its size from the start (glibc; nothing elsewhere).
void eb_reserve_memory(size_t bytes);
/// Makes the kernel kill this process when its parent dies (Linux; nothing elsewhere).
void eb_die_with_parent(int signal);
/// CPU nanoseconds that process `pid` has used so far; -1 where the system does not say.
int64_t eb_cpu_ns_of_process(int pid);
/// User plus system CPU nanoseconds of this process, and its resident bytes.
int64_t eb_process_cpu_ns(void);
int64_t eb_process_resident_bytes(void);

/// Starts `program` (argv and envp end with NULL) with stdin from /dev/null, its stdout and stderr in
/// new non-blocking close-on-exec pipes, no signal ignored, and a process group of its own, so that Ctrl-C
/// reaches the parent only. With `held`, SIGTERM, SIGINT and SIGHUP are blocked from its first instruction
/// on, which it must know of; otherwise no signal is. Returns the process id; -1 and errno on failure.
int eb_spawn(const char *program, char *const argv[], char *const envp[], int held, int *out,
             int *err);
/// A descriptor that becomes readable when process `pid` ends; -1 where there is none of the kind.
int eb_pidfd(int pid);
/// 0 while child `pid` runs; 1 when it ended, with `code` its exit status or 128 + signal; -1 and errno.
int eb_reap(int pid, int *code);

/// The size of the terminal; -1 and errno where `fd` is none.
int eb_terminal_size(int fd, int *rows, int *columns);
/// Gives each key as it is pressed, unseen, without waiting for a line; keeps what was in `before`. -1 and
/// errno on failure.
int eb_terminal_keys(int fd, struct termios *before);
void eb_terminal_restore(int fd, const struct termios *before);

/// 1 when the file system of `path` keeps its files in memory alone, so that a sync costs and promises
/// nothing (Linux's tmpfs; 0 elsewhere).
int eb_is_in_memory(const char *path);

// Asks for the cache line at an address before it is needed. Never faults.
static inline void eb_prefetch(const void *address) { __builtin_prefetch(address); }
