// NATS JetStream as our bus is used: acknowledged publishing, and a durable consumer that gets everything in
// order. Its C client, asynchronous publishing with a window, a push consumer with flow control that
// acknowledges all up to here every so often: the fastest of the ways that its client offers. Options: load.h.
#include "load.h"
#include <nats/nats.h>

static natsConnection *connection;
static jsCtx *stream;
#define OK(call) do { natsStatus s_ = (call); if (s_ != NATS_OK) FAIL("%s: %s", #call, natsStatus_GetText(s_)); } while (0)

static void refused(jsCtx *js, jsPubAckErr *error, void *closure) {
  (void)js, (void)closure;
  FAIL("a message was not stored: %s", error->ErrText ? error->ErrText : natsStatus_GetText(error->Err));
}

static void connect_to_server(void) {
  natsOptions *options;
  char url[64];
  snprintf(url, sizeof url, "nats://127.0.0.1:%s", argument("port", "4222"));
  OK(natsOptions_Create(&options));
  OK(natsOptions_SetURL(options, url));
  OK(natsConnection_Connect(&connection, options));
  jsOptions js;
  OK(jsOptions_Init(&js));
  js.PublishAsync.MaxPending = batch > 1 ? WINDOW_BATCHES : WINDOW_EVENTS;
  js.PublishAsync.StallWait = 30000;
  js.PublishAsync.ErrHandler = refused;
  OK(natsConnection_JetStream(&stream, connection, &js));
}

static void send_message(uint64_t index) {
  char subject[32];
  snprintf(subject, sizeof subject, "events.%d", (int)(index % message_count));
  OK(js_PublishAsync(stream, subject, message(index), (int)message_size, NULL));
}

static void drain(void) {
  jsPubOptions options;
  OK(jsPubOptions_Init(&options));
  options.MaxWait = 30000;
  OK(js_PublishAsyncComplete(stream, &options));
}

static void producer(void) {
  connect_to_server();
  publish(send_message, drain);
}

static void take(natsConnection *c, natsSubscription *s, natsMsg *m, void *closure) {
  (void)c, (void)s, (void)closure;
  static uint64_t count;
  receive(natsMsg_GetDataLength(m));
  note_receipt();
  if (++count % (batch > 1 ? 10 : 500) == 0 || shared->is_published) OK(natsMsg_Ack(m, NULL));
  natsMsg_Destroy(m);
}

static void reader(void) {
  connect_to_server();
  const char *subjects[] = {"events.>"};
  jsStreamConfig configuration;
  OK(jsStreamConfig_Init(&configuration));
  configuration.Name = "EVENTS";
  configuration.Subjects = subjects;
  configuration.SubjectsLen = 1;
  configuration.Storage = js_FileStorage;
  OK(js_AddStream(NULL, stream, &configuration, NULL, NULL));
  jsSubOptions options;
  OK(jsSubOptions_Init(&options));
  options.ManualAck = true;
  options.Config.Durable = "reader";
  options.Config.AckPolicy = js_AckAll;
  options.Config.FlowControl = true;
  options.Config.Heartbeat = 1000000000;
  options.Config.MaxAckPending = 50000;
  natsSubscription *subscription;
  OK(js_Subscribe(&subscription, stream, "events.>", take, NULL, NULL, &options, NULL));
  OK(natsSubscription_SetPendingLimits(subscription, -1, -1));
  shared->is_ready = 1;
  while (!is_over()) usleep(1000);
  OK(natsConnection_Flush(connection));
}

int main(int count, char **words) { return compare(count, words, producer, reader); }
