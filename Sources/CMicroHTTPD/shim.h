#include <microhttpd.h>

// Swift cannot call variadic functions. The options carry the listening socket.
static inline struct MHD_Daemon *eb_start_daemon(
    unsigned int flags, MHD_AccessHandlerCallback handler, void *context,
    struct MHD_OptionItem *options) {
  return MHD_start_daemon(flags, 0, NULL, NULL, handler, context,
                          MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

// The connection's socket, which libmicrohttpd owns; -1 when it has none.
static inline int eb_connection_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}
