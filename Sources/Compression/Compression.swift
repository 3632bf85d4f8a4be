// Whoever compresses needs gzip too; apps, which must do without zstd, import that module alone.
@_exported public import Gzip
