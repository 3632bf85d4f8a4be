import BusClient
import Primitives
import Synchronization

/// What a command that runs for a while says of its connection. A bus that was not there, or did not let it in,
/// from the beginning is for the command's own last line.
final class BusNotes: Sendable {
  private let hasConnected = Atomic<Bool>(false)

  func take(_ notice: ConnectionNotice) {
    if case .connected = notice { hasConnected.store(true, ordering: .relaxed) }
  }

  func take(_ report: OperatorReport) {
    guard report.key == "bus.waiting" || hasConnected.load(ordering: .relaxed) else { return }
    Terminal.error(report.text)
  }
}
