internal import CPlatform
internal import Primitives
internal import TestSupport

/// A broker of a benchmark: the built program, with a data directory.
struct BenchmarkBroker {
  let process: ChildProcess
  let address: String
  /// From its start to its readiness.
  let startMilliseconds: Double

  init(_ program: String, data: String, _ options: [String] = []) throws {
    let start = SystemClock.monotonic()
    process = try ChildProcess(program, ["broker", "--data", data, "--port-base", "0"] + options)
    guard let line = process.output.waitForLine(.seconds(60), where: { $0.hasPrefix("ready ") }),
      let bus = line.split(separator: " ").first(where: { $0.hasPrefix("bus=") })
    else { throw BenchmarkError(text: "the broker did not start: \(process.errorOutput.text)") }
    startMilliseconds = Double(SystemClock.monotonic() - start) / 1e6
    address = String(bus.dropFirst(4))
  }

  func stop(signal: Int32 = 15) {
    process.signal(signal)
    _ = process.wait()
  }
}

struct BenchmarkError: Error, CustomStringConvertible {
  var text: String
  var description: String { text }
}

/// CPU time of both processes over a span.
struct BenchmarkUsage {
  private let broker: ChildProcess
  private let own = eb_process_cpu_ns()
  private let others: Double

  init(_ broker: ChildProcess) {
    self.broker = broker
    others = ProcessFiles.cpuSeconds(of: broker.id)
  }

  /// Seconds: of this process, and of the broker.
  func since() -> (own: Double, broker: Double) {
    (
      Double(eb_process_cpu_ns() - own) / 1e9, ProcessFiles.cpuSeconds(of: broker.id) - others
    )
  }
}
