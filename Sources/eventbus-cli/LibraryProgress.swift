import ServiceRuntime
import Synchronization

/// A progress bar that a library's callback moves, on whatever thread that runs.
final class LibraryProgress: Sendable {
  private struct State: ~Copyable {
    var bar: ProgressBar?
  }

  private let label: String
  private let state = Mutex(State(bar: nil))

  init(_ label: String) { self.label = label }

  /// The first call says what the whole is.
  func update(_ done: UInt64, of total: UInt64) {
    state.withLock { state in
      if state.bar == nil { state.bar = ProgressBar(label, total: Int(clamping: total)) }
      state.bar?.update(Int(clamping: done))
    }
  }

  func finish() { state.withLock { state in state.bar?.finish() } }
}
