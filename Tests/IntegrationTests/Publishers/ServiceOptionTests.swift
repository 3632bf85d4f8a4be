import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// What collector and publishers are told on their command line, and what others see of it.
  @Suite struct ServiceOptionTests {
    @Test(arguments: [["--write-key", "hush-1"], ["--write-key=hush-1"]])
    func `the system's list of processes shows no secret`(_ words: [String]) throws {
      let broker = try TestBroker()
      let collector = try TestCollector(broker, words)
      let seen = try Self.commandLine(collector.process)
      #expect(seen.contains("--write-key") && !seen.contains("hush"), "\(seen)")
      #expect(try collector.post("/v1/events", "[]", headers: "").status == 401)
      let folder = try TemporaryFolder()
      let publisher = try ChildProcess(
        Program.path,
        ["webhook", "--bus", broker.bus, "--data", folder.file("data"), "--metrics", "127.0.0.1:0"]
          + ["--endpoint", "http://127.0.0.1:1", "--header", "X-Key: hush-2", "--secret=hush-3"])
      #expect(publisher.output.waitForLine { $0.hasPrefix("ready ") } != nil)
      #expect(try !Self.commandLine(publisher).contains("hush"))
    }

    private static func commandLine(_ process: ChildProcess) throws -> String {
      String(
        decoding: try Data(contentsOf: URL(fileURLWithPath: "/proc/\(process.id)/cmdline")),
        as: UTF8.self)
    }

    @Test(arguments: [
      (
        ["segment", "--write-key", "k", "--ca-file", "/nowhere/ca.pem"], "--ca-file: open /nowhere"
      ),
      (["segment", "--write-key", "k", "--ca-file", Program.path], "--ca-file: "),
      (
        ["segment", "--write-key", "k", "--mapping", "/nowhere/map"], "--mapping: open /nowhere/map"
      ),
      (["segment", "--write-key", "k", "--mapping", "/tmp"], "--mapping: read /tmp"),
      (["collector", "--rules", "/nowhere/rules"], "--rules: open /nowhere/rules"),
      (
        ["collector", "--tls-certificate", "/nowhere/c", "--tls-key", "/nowhere/k"],
        "--tls-certificate: open /nowhere/c"
      ),
      (["collector", "--write-key", "a b"], "--write-key: a key is a text"),
      (["collector", "--bus", "nonsense", "--listen", "127.0.0.1:0"], "--bus: 'nonsense' is no"),
      (["collector", "--bus", "127.0.0.1:7400"], "--bus: '127.0.0.1:7400' is no address"),
      (["webhook", "--bus", "tcp://127.0.0.1:99999"], "--bus: 'tcp://127.0.0.1:99999' is no"),
      (["webhook", "--bus", "tcp://127.0.0.1:0"], "--bus: 'tcp://127.0.0.1:0' is no address"),
      (["webhook", "--bus", "tcp://127.0.0.1"], "--bus: 'tcp://127.0.0.1' is no address"),
      (["broker", "--bus", "inproc://x"], "--bus: 'inproc://x' is no address"),
      (["collector", "--bus-deadline", "99999d"], "--bus-deadline must be from"),
    ])
    func `an option that cannot be followed is named in one line`(
      _ sample: (words: [String], message: String)
    ) throws {
      let folder = try TemporaryFolder()
      let run = try Program.run(sample.words + ["--data", folder.file("data")])
      #expect(run.status == .exited(2), "\(run.errors)")
      #expect(
        run.errorLines.count == 1 && run.errors.contains(": \(sample.message)"), "\(run.errors)")
    }
  }
}
