import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// `archive import`: from files, through the bus, into the archive.
  @Suite struct ImportTests {
    /// A folder as Segment writes it, of two gzip files in two days; returns it and the lines.
    private static func copy(_ broker: TestBroker) throws -> (folder: String, lines: [String]) {
      let lines = EventLine.load(0..<2000).split(separator: "\n").map(String.init)
      let folder = broker.folder.file("s3/segment-logs/source")
      for (day, range) in [("1714521600000", 0..<1200), ("1714608000000", 1200..<2000)] {
        let path = "\(folder)/\(day)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        var text = lines[range].joined(separator: "\n") + "\n"
        if day.hasPrefix("17146") { text += "{not JSON\n" }
        let file = "\(path)/1714600000.abcdef.0123.gz"
        let (status, packed, _) = try ChildProcess.run("gzip", ["-c"], input: Array(text.utf8))
        try #require(status == .exited(0))
        try Data(packed).write(to: URL(fileURLWithPath: file))
      }
      try Data("no events".utf8).write(to: URL(fileURLWithPath: "\(folder)/README.txt"))
      return (broker.folder.file("s3"), lines)
    }

    @Test func `a folder of gzip files imported twice is stored once`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      let (folder, lines) = try Self.copy(broker)
      let bad = broker.folder.file("bad.ndjson")
      let first = try archiver.run("import", broker, [folder, "--refused", bad, "--json"])
      #expect(first.status == .exited(3), "\(first.errors)")
      #expect(try first.summary("acknowledged") == 2000)
      #expect(try first.summary("passedOver") == 1)
      #expect(
        first.errorLines.contains { $0.contains("1714608000000") && $0.contains("line 801: ") },
        "\(first.errors)")
      #expect(try String(contentsOfFile: bad, encoding: .utf8) == "{not JSON\n")
      #expect(archiver.waitForCursor(2000))
      let again = try archiver.run("import", broker, [folder, "--json"])
      #expect(try again.summary("acknowledged") == 2000)
      #expect(try again.summary("resumed") == 2)
      #expect(try broker.head() == 2000)
      #expect(try archiver.messageIDs().map(String.init) == (0..<2000).map(EventLine.loadID))
      #expect(try archiver.count() == lines.count)
      // For somebody else too it is another import, which the archive knows by the ids.
      try broker.subscribe("counts")
      let wider = try archiver.run("import", broker, [folder, "--to", "archiver,counts"])
      #expect(wider.status == .exited(3))
      #expect(try broker.read("counts").count == 2000)
      #expect(archiver.waitForCursor(4000))
      #expect(try archiver.count() == 2000)
      #expect(try broker.stored().isEmpty)
    }

    @Test func `events without an id are the same ones in each import`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      let file = broker.folder.file("plain.ndjson")
      let text = (0..<50).map { "{\"event\":\"A\",\"timestamp\":\"2020-01-01\",\"n\":\($0)}\n" }
      try Data(text.joined().utf8).write(to: URL(fileURLWithPath: file))
      try broker.subscribe("second")
      for names in ["archiver", "second,archiver"] {
        #expect(try archiver.run("import", broker, [file, "--to", names]).status == .exited(0))
      }
      #expect(archiver.waitForCursor(100))
      #expect(try archiver.count() == 50)
    }

    @Test func `a dry run sends nothing, and what cannot be read is named`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      let (folder, _) = try Self.copy(broker)
      let dry = try archiver.run("import", broker, [folder, "--dry-run", "--json"])
      #expect(dry.status == .exited(3))
      #expect(try dry.summary("published") == 2000)
      let names = try #require(try JSONValue(text: dry.output)["names"])
      #expect(names["Kind 7"]?.int == 100)
      #expect(try broker.head() == 0)
      // A file that is cut off gives what is there, and says so.
      let file = folder + "/segment-logs/source/1714521600000/1714600000.abcdef.0123.gz"
      let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
      let cut = broker.folder.file("cut.gz")
      try bytes.prefix(bytes.count - 9).write(to: URL(fileURLWithPath: cut))
      let damaged = try archiver.run("import", broker, [cut, "--json"])
      #expect(damaged.status != .exited(0))
      #expect(damaged.errors.contains("cut.gz"), "\(damaged.errors)")
      #expect(try damaged.summary("damaged") == 1)
      #expect(try damaged.summary("acknowledged") ?? 0 > 1000)
      for wrong in [["/no/such"], [file, "--to", "nobody"]] {
        #expect(try archiver.run("import", broker, wrong).status == .exited(1), "\(wrong)")
      }
      #expect(try archiver.run("import", broker).status == .exited(2))
    }
  }
}
