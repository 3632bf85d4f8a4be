#include "CPlatform.h"
#include <errno.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

int eb_terminal_size(int fd, int *rows, int *columns) {
  struct winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) return -1;
  *rows = size.ws_row;
  *columns = size.ws_col;
  return 0;
}

int eb_terminal_keys(int fd, struct termios *before) {
  if (tcgetattr(fd, before) != 0) return -1;
  struct termios keys = *before;
  keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  keys.c_cc[VMIN] = 0;
  keys.c_cc[VTIME] = 0;
  // Ctrl-Z would leave the shell with this terminal; Ctrl-C stays what it is.
  keys.c_cc[VSUSP] = _POSIX_VDISABLE;
  return tcsetattr(fd, TCSANOW, &keys);
}

void eb_terminal_restore(int fd, const struct termios *before) { tcsetattr(fd, TCSANOW, before); }
