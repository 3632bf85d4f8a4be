import Primitives
import ServiceRuntime
import Synchronization

/// Short texts to stdout and stderr. A reader that has gone is no fault.
enum Terminal {
  /// Set once stdout could not be written for another reason than that its reader has gone: what was
  /// printed is not whole, and the exit code must say so.
  private static let outputFailure = Atomic<Bool>(false)

  static var hasFailed: Bool { outputFailure.load(ordering: .relaxed) }

  static func outputFailed(_ error: SystemError) {
    outputFailure.store(true, ordering: .relaxed)
    Self.error("eventbus: stdout: \(error)")
  }

  static func output(_ text: String) {
    var output = StandardOutput()
    do throws(SystemError) {
      try output.write(text)
      try output.flush()
    } catch {
      outputFailed(error)
    }
  }

  /// One line on stderr. Much of it comes from clients, files and events, so no control character
  /// passes, whoever wrote it.
  static func error(_ line: String) {
    var output = StandardOutput(descriptor: 2)
    do {
      try output.writeLine(TerminalText.escape(line))
      try output.flush()
    } catch {
      // There is nowhere left to say it.
    }
  }
}
