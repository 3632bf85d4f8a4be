#define _GNU_SOURCE
#include "CPlatform.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

// The reading end is non-blocking and both are close-on-exec.
static int make_pipe(int ends[2]) {
#ifdef __linux__
  if (pipe2(ends, O_CLOEXEC)) return -1;
#else
  if (pipe(ends)) return -1;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#endif
  return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

static int spawn_with(const char *program, char *const argv[], char *const envp[], int held,
                      int out, int err, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t blocked, all;
  sigemptyset(&blocked);
  if (held) {
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGHUP);
  }
  sigemptyset(&all);
  sigaddset(&all, SIGPIPE);
  sigaddset(&all, SIGINT);
  sigaddset(&all, SIGTERM);
  sigaddset(&all, SIGHUP);
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed) return failed;
  failed = posix_spawnattr_init(&attributes);
  if (failed) {
    posix_spawn_file_actions_destroy(&actions);
    return failed;
  }
  failed = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, out, 1);
  if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, err, 2);
  if (!failed) failed = posix_spawnattr_setsigmask(&attributes, &blocked);
  if (!failed) failed = posix_spawnattr_setsigdefault(&attributes, &all);
  if (!failed) failed = posix_spawnattr_setpgroup(&attributes, 0);
  if (!failed)
    failed = posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  if (!failed) failed = posix_spawnp(pid, program, &actions, &attributes, argv, envp);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

int eb_spawn(const char *program, char *const argv[], char *const envp[], int held, int *out,
             int *err) {
  int outs[2] = {-1, -1}, errs[2] = {-1, -1};
  pid_t pid = -1;
  int failed = 0;
  if (make_pipe(outs) || make_pipe(errs)) failed = errno;
  if (!failed) failed = spawn_with(program, argv, envp, held, outs[1], errs[1], &pid);
  if (outs[1] >= 0) close(outs[1]);
  if (errs[1] >= 0) close(errs[1]);
  if (failed) {
    if (outs[0] >= 0) close(outs[0]);
    if (errs[0] >= 0) close(errs[0]);
    errno = failed;
    return -1;
  }
  *out = outs[0];
  *err = errs[0];
  return pid;
}

int eb_pidfd(int pid) {
#if defined(__linux__) && defined(SYS_pidfd_open)
  return (int)syscall(SYS_pidfd_open, pid, 0);
#else
  (void)pid;
  return -1;
#endif
}

int eb_reap(int pid, int *code) {
  int status = 0;
  pid_t found = waitpid(pid, &status, WNOHANG);
  if (found == 0) return 0;
  if (found < 0) return errno == EINTR ? 0 : -1;
  *code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return 1;
}
