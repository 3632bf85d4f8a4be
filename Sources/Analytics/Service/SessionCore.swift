internal import Primitives

/// Which session an event belongs to: one given by the app, else one that ends when nothing was tracked
/// for as long as the timeout.
struct SessionCore: Sendable {
  /// Nil: sessions are the app's matter alone.
  let timeout: Duration?
  private var given: String?
  private var automatic: String?
  private var lastEvent: Timestamp?

  init(timeout: Duration?) { self.timeout = timeout }

  /// The app's own session; nil leaves it to the timeout again.
  mutating func set(_ id: String?) { given = id }

  /// Ends the automatic session: the next event begins another.
  mutating func end() {
    given = nil
    automatic = nil
  }

  /// The session of an event tracked at `time`. `makeID` is called when a new one begins.
  mutating func session(at time: Timestamp, makeID: () -> String) -> String? {
    defer { lastEvent = max(time, lastEvent ?? time) }
    if let given { return given }
    guard let timeout else { return nil }
    if let automatic, let lastEvent,
      time.nanoseconds - lastEvent.nanoseconds < timeout.nanoseconds
    {
      return automatic
    }
    automatic = makeID()
    return automatic
  }
}
