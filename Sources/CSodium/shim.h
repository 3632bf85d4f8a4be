#include <sodium.h>

// An output without a type, so that Swift need not keep the 16 bytes in an array.
static inline void eb_siphash128(void *result, const void *bytes, size_t count,
                                 const unsigned char *key) {
  crypto_shorthash_siphashx24(result, bytes, count, key);
}
