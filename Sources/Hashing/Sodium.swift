internal import CSodium

/// libsodium, initialised once: it chooses the fastest code for this processor then.
enum Sodium {
  /// Touch it before the first call. Initialising fails only where the system has no random numbers,
  /// and then nothing secret may go on.
  static let ready: Void = {
    precondition(sodium_init() >= 0, "the system gives no random numbers")
  }()
}
