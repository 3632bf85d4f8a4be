// Lets ThreadSanitizer see Swift's `Mutex` where threads contend for it.
//
// On Linux a `Mutex` is an atomic number and a futex. Taking and giving back a free one is inlined, so the program's
// own instrumented code does it and ThreadSanitizer understands; but with a waiter the standard library does it in
// libswiftSynchronization, which is not instrumented, and all that the lock guards looks like a race. This library is
// preloaded: it stands before these three functions and tells what they do. Nothing is hidden by it: a race beside
// the lock is still found (Deploy/sanitize proves both before each run, with probe.swift).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

// Absent in programs that are not instrumented, such as the shell that starts the tests.
__attribute__((weak)) void __tsan_acquire(void *);
__attribute__((weak)) void __tsan_release(void *);

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void unlock_slow(SELF void *mutex) __asm__(UNLOCK);
SWIFT bool try_lock_slow(SELF void *mutex) __asm__(TRY_LOCK);

static SWIFT void (*original_lock)(uint32_t, SELF void *);
static SWIFT void (*original_unlock)(SELF void *);
static SWIFT bool (*original_try_lock)(SELF void *);

// Where there is no Swift, nobody calls what is not found.
__attribute__((constructor)) static void find_originals(void) {
  *(void **)&original_lock = dlsym(RTLD_NEXT, LOCK);
  *(void **)&original_unlock = dlsym(RTLD_NEXT, UNLOCK);
  *(void **)&original_try_lock = dlsym(RTLD_NEXT, TRY_LOCK);
}

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
  original_lock(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock_slow(SELF void *mutex) {
  if (__tsan_release) __tsan_release(mutex);
  original_unlock(mutex);
}

SWIFT bool try_lock_slow(SELF void *mutex) {
  bool taken = original_try_lock(mutex);
  if (taken && __tsan_acquire) __tsan_acquire(mutex);
  return taken;
}
