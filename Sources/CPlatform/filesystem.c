#include "CPlatform.h"
#if defined(__linux__)
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

int eb_is_in_memory(const char *path) {
#if defined(__linux__)
  struct statfs info;
  return statfs(path, &info) == 0 && info.f_type == TMPFS_MAGIC;
#else
  (void)path;
  return 0;
#endif
}
