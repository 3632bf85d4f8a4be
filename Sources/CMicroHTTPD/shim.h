#include <microhttpd.h>

// Swift cannot call variadic functions. The options carry the listening socket.
static inline struct MHD_Daemon *eb_start_daemon(
    unsigned int flags, MHD_AccessHandlerCallback handler, void *context,
    struct MHD_OptionItem *options) {
  return MHD_start_daemon(flags, 0, NULL, NULL, handler, context,
                          MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}
