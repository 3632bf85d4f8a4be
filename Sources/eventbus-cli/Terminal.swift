import Primitives
import ServiceRuntime

/// Short texts to stdout and stderr. A reader that has gone is no fault.
enum Terminal {
  static func output(_ text: String) {
    var output = StandardOutput()
    do {
      try output.write(text)
      try output.flush()
    } catch {
      Self.error("eventbus: stdout: \(error)")
    }
  }

  static func error(_ line: String) {
    var output = StandardOutput(descriptor: 2)
    do {
      try output.writeLine(line)
      try output.flush()
    } catch {
      // There is nowhere left to say it.
    }
  }
}
