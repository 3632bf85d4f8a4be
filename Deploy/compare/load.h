// What both comparisons share: events, two processes (one publishes, one reads), clock and CPU, one line of
// JSON. The same rule as `benchmarks bus`: the clock runs from the first publish to the last receipt, or to
// the last acknowledgement where that is later.
//
//   events=FILE   the events, as `benchmarks events` wrote them: (u32 size, little endian; bytes)...
//   batch=N       events in one message of theirs; default 1
//   seconds=S     how long to publish; default 2
//   server=PID    whose CPU counts;  port=N  where it listens;  label=NAME  for the line printed
#pragma once
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FAIL(...) do { fprintf(stderr, "compare: " __VA_ARGS__); fputc('\n', stderr); _exit(1); } while (0)

// Messages on the way without an acknowledgement: as many as our client keeps batches, or events of as many.
enum { WINDOW_BATCHES = 256, WINDOW_EVENTS = 4096 };

static struct {
  _Atomic int is_ready, is_published;
  _Atomic uint64_t published, received;
  _Atomic int64_t first, last_receipt, last_acknowledgement;
} *shared;

static int argument_count;
static char **arguments;
static const char *argument(const char *key, const char *otherwise) {
  size_t length = strlen(key);
  for (int i = 1; i < argument_count; i++)
    if (!strncmp(arguments[i], key, length) && arguments[i][length] == '=') return arguments[i] + length + 1;
  return otherwise;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// Messages, each of `batch` events in turn, all of one size.
static int batch, message_count;
static size_t message_size;
static char *messages;

static void load_events(void) {
  const char *path = argument("events", "events");
  FILE *file = fopen(path, "rb");
  if (!file) FAIL("%s cannot be read; `benchmarks events FILE` makes it", path);
  static char events[1 << 20];
  uint32_t size = 0, next;
  int count = 0;
  while (fread(&next, 4, 1, file) == 1) {
    if ((size && next != size) || (size_t)(count + 1) * next > sizeof events) FAIL("%s: events of one size are needed", path);
    size = next;
    if (fread(events + (size_t)count * size, size, 1, file) != 1) FAIL("%s is cut short", path);
    count++;
  }
  fclose(file);
  if (!count) FAIL("%s holds no event", path);
  batch = atoi(argument("batch", "1"));
  message_count = count;
  message_size = (size_t)size * batch;
  messages = malloc(message_size * count);
  for (size_t i = 0; i < (size_t)count * batch; i++)
    memcpy(messages + i * size, events + i % count * size, size);
}

static const char *message(uint64_t index) { return messages + index % message_count * message_size; }

// Publishes with `send` for the time asked for, then lets `drain` wait for all acknowledgements.
static void publish(void (*send)(uint64_t), void (*drain)(void)) {
  shared->first = now();
  int64_t end = shared->first + (int64_t)(atof(argument("seconds", "2")) * 1e9);
  uint64_t index = 0;
  do {
    for (int i = 0; i < (batch > 1 ? 1 : 32); i++) send(index++);
  } while (now() < end);
  drain();
  shared->last_acknowledgement = now();
  shared->published = index * batch;
  shared->is_published = 1;
}

static void receive(size_t size) {
  if (size != message_size) FAIL("a message of %zu bytes, not %zu, came", size, message_size);
  shared->received += batch;
}

static void note_receipt(void) { shared->last_receipt = now(); }

// Whether the reader has everything; fails when nothing more comes.
static int is_over(void) {
  static uint64_t seen;
  static int64_t since;
  uint64_t received = shared->received;
  int64_t time = now();
  if (!since || received != seen) seen = received, since = time;
  if (time - since > 20000000000) FAIL("nothing came for 20 s; %lu of %lu events so far", received, shared->published);
  return shared->is_published && received >= shared->published;
}

static double cpu_of(int process) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = 0;
  unsigned long user = 0, system = 0;
  char *rest = strrchr(text, ')');
  if (rest) sscanf(rest + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  return (double)(user + system) / sysconf(_SC_CLK_TCK);
}

static pid_t start(void (*body)(void)) {
  pid_t process = fork();
  if (process < 0) FAIL("fork failed");
  if (process) return process;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(90);
  body();
  _exit(0);
}

static double finish(pid_t process, const char *role) {
  int status;
  struct rusage usage;
  if (wait4(process, &status, 0, &usage) < 0 || status) FAIL("the %s failed (%d)", role, status);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int compare(int count, char **words, void (*producer)(void), void (*reader)(void)) {
  argument_count = count, arguments = words;
  load_events();
  shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) FAIL("no memory");
  int server = atoi(argument("server", "0"));
  pid_t reading = start(reader);
  for (int i = 0; !shared->is_ready; i++) {
    if (i > 20000) FAIL("the reader did not begin");
    usleep(1000);
  }
  double before = cpu_of(server);
  double cpu = finish(start(producer), "producer") + finish(reading, "reader");
  cpu += cpu_of(server) - before;
  uint64_t events = shared->published;
  if (shared->received != events) FAIL("%lu events published, %lu received", events, shared->received);
  int64_t end = shared->last_receipt > shared->last_acknowledgement ? shared->last_receipt : shared->last_acknowledgement;
  double seconds = (end - shared->first) / 1e9;
  printf("{\"case\":\"%s\",\"events\":%lu,\"sec\":%.3f,\"evps\":%.0f,\"cpu_us\":%.3f}\n",
    argument("label", "?"), events, seconds, events / seconds, cpu / events * 1e6);
  return 0;
}
