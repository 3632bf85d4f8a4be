import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// A service may be told to end at any moment of its start: it ends in order, and says so by its code.
  @Suite struct StopAtAnyMomentTests {
    @Test(arguments: ["broker", "archiver", "aggregator", "collector", "webhook"])
    func `a service that is stopped while it starts ends with 0`(_ service: String) throws {
      let broker = try TestBroker()
      let folder = try TemporaryFolder()
      var arguments = [service, "--port-base", "0", "--metrics", "127.0.0.1:0"]
      arguments +=
        service == "archiver" ? ["--dir", folder.file("data")] : ["--data", folder.file("data")]
      if service != "broker" { arguments += ["--bus", broker.bus] }
      if service == "aggregator" || service == "collector" {
        arguments += ["--listen", "127.0.0.1:0"]
      }
      if service == "webhook" { arguments += ["--endpoint", "http://127.0.0.1:9"] }
      var random = SeededRandom(seed: UInt64(service.utf8.count))
      for _ in 0..<6 {
        // What comes before `main` no program can order: the signal is held for it, as `up` does.
        let child = try ChildProcess(Program.path, arguments, held: [SIGTERM])
        let moment = SystemClock.monotonic() + Int64(random.next() % 150) * 1_000_000
        while SystemClock.monotonic() < moment, child.ended() == nil { sched_yield() }
        child.signal(SIGTERM)
        #expect(child.wait() == .exited(0), "\(child.errorOutput.text)")
      }
    }
  }
}
