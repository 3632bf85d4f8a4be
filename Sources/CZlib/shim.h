#include <zlib.h>

// Swift cannot call the macros; 16 asks for gzip's frame, 15 for the largest window.
static inline int eb_deflate_init_gzip(z_stream *stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
static inline int eb_inflate_init_gzip(z_stream *stream) {
  return inflateInit2(stream, 15 + 16);
}
