// Redis Streams as our bus is used: each XADD is answered, many are on the way, and a durable reader gets
// everything in order. Options: load.h, and
//
//   reader=group    XREADGROUP and XACK: Redis keeps what is delivered and not acknowledged, and writes both
//                   to its log
//   reader=cursor   XREAD, and the last id in a key of its own with each read: a cursor as our subscribers
//                   have, and the cheaper way
#include "load.h"
#include <hiredis/hiredis.h>

static redisContext *redis;

static void connect_to_server(void) {
  redis = redisConnect("127.0.0.1", atoi(argument("port", "6379")));
  if (!redis || redis->err) FAIL("no connection: %s", redis ? redis->errstr : "no memory");
}

static redisReply *answer(void) {
  void *reply;
  if (redisGetReply(redis, &reply) != REDIS_OK) FAIL("%s", redis->errstr);
  if (((redisReply *)reply)->type == REDIS_REPLY_ERROR) FAIL("%s", ((redisReply *)reply)->str);
  return reply;
}

static int on_the_way;
static void await(int most) {
  for (; on_the_way > most; on_the_way--) freeReplyObject(answer());
}

static void send_message(uint64_t index) {
  static char *command;
  static size_t head;
  if (!command) {
    command = malloc(message_size + 128);
    head = (size_t)sprintf(command, "*5\r\n$4\r\nXADD\r\n$6\r\nevents\r\n$1\r\n*\r\n$1\r\ne\r\n$%zu\r\n", message_size);
    memcpy(command + head + message_size, "\r\n", 2);
  }
  memcpy(command + head, message(index), message_size);
  if (redisAppendFormattedCommand(redis, command, head + message_size + 2) != REDIS_OK) FAIL("%s", redis->errstr);
  // The half of a window at a time, so that writes and answers travel together.
  int window = batch > 1 ? WINDOW_BATCHES : WINDOW_EVENTS;
  if (++on_the_way >= window) await(window / 2);
}

static void drain(void) { await(0); }

static void producer(void) {
  connect_to_server();
  publish(send_message, drain);
}

static int is_group;
static char cursor[64] = "0";

static void ask(void) {
  int count = batch > 1 ? 32 : 1000;
  if (is_group) redisAppendCommand(redis, "XREADGROUP GROUP group reader COUNT %d BLOCK 100 STREAMS events >", count);
  else redisAppendCommand(redis, "XREAD COUNT %d BLOCK 100 STREAMS events %s", count, cursor);
}

// Takes the entries of one answer, and tells Redis so.
static void take(redisReply *entries) {
  const char **words = malloc((entries->elements + 3) * sizeof *words);
  for (size_t i = 0; i < entries->elements; i++) {
    redisReply *entry = entries->element[i];
    receive(entry->element[1]->element[1]->len);
    words[i + 3] = entry->element[0]->str;
  }
  note_receipt();
  snprintf(cursor, sizeof cursor, "%s", words[entries->elements + 2]);
  if (is_group) {
    words[0] = "XACK", words[1] = "events", words[2] = "group";
    redisAppendCommandArgv(redis, (int)entries->elements + 3, words, NULL);
  } else redisAppendCommand(redis, "SET cursor %s", cursor);
  free(words);
}

static void reader(void) {
  is_group = !strcmp(argument("reader", "cursor"), "group");
  connect_to_server();
  redisAppendCommand(redis, "XGROUP CREATE events group 0 MKSTREAM");
  freeReplyObject(answer());
  shared->is_ready = 1;
  ask();
  int has_taken = 0;
  while (!is_over()) {
    // The answer to the acknowledgement of the read before comes first.
    if (has_taken) freeReplyObject(answer());
    redisReply *reply = answer();
    has_taken = reply->type == REDIS_REPLY_ARRAY && reply->elements > 0;
    if (has_taken) take(reply->element[0]->element[1]);
    freeReplyObject(reply);
    ask();
  }
  if (has_taken) freeReplyObject(answer());
}

int main(int count, char **words) { return compare(count, words, producer, reader); }
