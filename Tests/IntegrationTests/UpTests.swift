import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// All services under one command.
  @Suite struct UpTests {
    @Test func `the demo publishes, and one signal ends everything in order`() throws {
      let folder = try TemporaryFolder()
      let base = Int.random(in: 30_000..<32_000)
      let up = try ChildProcess(
        Program.path, ["up", "--demo", "--data", folder.file("data"), "--port-base", "\(base)"])
      let ready = up.output.waitForLine { $0.hasPrefix("ready broker.bus=") }
      try #require(ready != nil, "\(up.errorOutput.text)")
      let tail = try Program.run([
        "tail", "--bus", "tcp://127.0.0.1:\(base)", "--since", "earliest", "--count", "2",
        "--format", "ndjson",
      ])
      #expect(try tail.events().names.first == "Game Started")
      // Its page has something to show of each kind.
      let page = ready?.split(separator: " ").first { $0.hasPrefix("aggregator.listen=") }
      let url = String(try #require(page).dropFirst("aggregator.listen=".count))
      let names = ["games-played", "games-by-opponent", "games-by-moves", "moves"]
      for name in names {
        let hasCounted = try waitUntil {
          let (_, output, _) = try ChildProcess.run("curl", ["-s", "\(url)/api/reports"])
          let reports = try JSONValue(text: String(decoding: output, as: UTF8.self))["reports"]
          let report = reports?.list.first { $0["name"]?.text == name }
          return report?["events"]?.int ?? 0 > 0
        }
        #expect(hasCounted, "\(name)")
      }
      let (_, html, _) = try ChildProcess.run("curl", ["-s", url])
      #expect(String(decoding: html, as: UTF8.self).contains("<title>eventbus</title>"))
      up.signal(SIGTERM)
      #expect(up.wait() == .exited(0), "\(up.errorOutput.text)")
    }

    @Test func `a killed child is started again where it was`() throws {
      let folder = try TemporaryFolder()
      let base = try FreePorts.base()
      let up = try ChildProcess(
        Program.path, ["up", "--data", folder.file("data"), "--port-base", "\(base)"])
      try #require(
        up.output.waitForLine { $0.hasPrefix("ready broker.bus=") } != nil,
        "\(up.errorOutput.text)")
      let bus = ["--bus", "tcp://127.0.0.1:\(base)"]
      #expect(
        try Program.run(["publish", "--event", "Before"] + bus).status == .exited(0))
      let first = try #require(broker(of: up))
      kill(first, SIGKILL)
      #expect(waitUntil { broker(of: up).map { $0 != first } ?? false })
      #expect(
        try Program.run(["publish", "--event", "After", "--timeout", "20s"] + bus).status
          == .exited(0))
      let tail = try Program.run(
        ["tail", "--since", "earliest", "--until-end", "--format", "ndjson"] + bus)
      #expect(try tail.events().names == ["Before", "After"])
      up.signal(SIGTERM)
      #expect(up.wait() == .exited(0), "\(up.errorOutput.text)")
    }

    /// The process that runs `broker` for this `up`.
    private func broker(of up: ChildProcess) -> Int32? {
      // Children are listed with the thread that started them.
      let tasks = "/proc/\(up.id)/task"
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
      let children = threads.map { thread in
        (try? String(contentsOfFile: "\(tasks)/\(thread)/children", encoding: .utf8)) ?? ""
      }
      return children.joined().split(separator: " ").compactMap { Int32($0) }.first { id in
        let words = FileManager.default.contents(atPath: "/proc/\(id)/cmdline") ?? Data()
        return words.split(separator: 0).contains(Data("broker".utf8))
      }
    }
  }
}
