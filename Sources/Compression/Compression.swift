internal import CZlib
internal import CZstd
