internal import Archive
internal import BusProtocol
internal import EventCodec
internal import Primitives
internal import TestSupport

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What looking into an archive costs: counts by a property over a million events, against DuckDB over the
/// same files in the same run; and one hour out of thirty days in many small parts.
enum QueryBenchmark {
  private static let second: Int64 = 1_000_000_000
  private static let start: Int64 = 1_764_547_200 * second  // 2025-12-01T00:00:00Z

  static func run() throws {
    let threads = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    try countByProperty(threads)
    try oneHour(threads)
  }

  private static func countByProperty(_ threads: Int) throws {
    let folder = try TemporaryFolder()
    let directory = folder.file("archive")
    let count = 1_000_000
    // Six parts, so that threads have something to share.
    try write(directory, count, interval: second / 100, partEvents: count / 6)
    let parts = try Catalogue(reading: directory).parts()
    let raw = parts.reduce(0) { $0 + $1.rawBytes }
    report("\(count) events, \(parts.count) parts, \(raw / UInt64(count)) bytes a line")
    let field = QueryField.path([Array("properties".utf8), Array("status".utf8)])
    var groups = 0
    let own = try best {
      groups = try ArchiveQuery(directory).groups(by: [field], threads: threads).groups.count
    }
    let one = try best {
      groups = try ArchiveQuery(directory).groups(by: [field], threads: 1).groups.count
    }
    report(
      "count by properties.status: \(milliseconds(own)) ms with \(threads) threads, "
        + "\(milliseconds(one)) ms with one (\(Int(Double(raw) / one / 1e6)) MB/s), \(groups) groups"
    )
    let names = try best {
      groups = try ArchiveQuery(directory).groups(by: [.name], threads: threads).groups.count
    }
    report("count by event, from the catalogue: \(milliseconds(names)) ms, \(groups) groups")
    guard let duck = try duckDB(parts.map { "\(directory)/\($0.path)" }) else {
      return report("DuckDB is not installed (pip install duckdb): no ratio")
    }
    report(
      "DuckDB: \(milliseconds(duck)) ms; ratio \(Double(Int(own / duck * 100)) / 100) (target 2)")
  }

  private static func oneHour(_ threads: Int) throws {
    let folder = try TemporaryFolder()
    let directory = folder.file("archive")
    // Thirty days, a part each five minutes, an event each three seconds.
    let parts = 30 * 24 * 12
    try write(directory, parts * 100, interval: 3 * second, partEvents: 100)
    var query = ArchiveQuery(directory)
    query.filter.from = start + 15 * 86_400 * second
    query.filter.to = start + (15 * 86_400 + 3600) * second
    var matched: UInt64 = 0
    var opened = 0
    let seconds = try best {
      let report = try query.rows { _ in true }
      (matched, opened) = (report.eventsMatched, report.partsOpened)
    }
    report(
      "one hour of \(parts) parts: \(milliseconds(seconds)) ms, \(opened) opened, \(matched) events "
        + "(target 300 ms)")
  }

  private static func write(
    _ directory: String, _ count: Int, interval: Int64, partEvents: Int
  ) throws {
    var writer = try ArchiveWriter(
      ArchiverConfiguration(directory: directory, address: "tcp://127.0.0.1:1"))
    try writer.begin(at: Position(epoch: 1, offset: 0), seekGeneration: 0)
    let names = (0..<20).map { Array("Benchmark Event \($0)".utf8) }
    for index in 0..<count {
      let time = start + Int64(index) * interval
      let name = names[index * 7 % names.count]
      let payload = payload(index, name, time)
      try unsafe writer.take(
        EventPlace(position: Position(epoch: 1, offset: UInt64(index)), time: time),
        name: name.span.bytes, payload: payload.span.bytes)
      guard index % partEvents == partEvents - 1 || index == count - 1 else { continue }
      writer.advance(to: Position(epoch: 1, offset: UInt64(index + 1)))
      try writer.commit()
    }
  }

  private static func payload(_ index: Int, _ name: [UInt8], _ time: Int64) -> [UInt8] {
    var writer = MessagePackWriter()
    writer.writeMapHeader(6)
    writer.write("type")
    writer.write("track")
    writer.write("event")
    writer.write(String(decoding: name, as: UTF8.self))
    writer.write("messageId")
    writer.write("0190163d-8694-739b-aea5-\(100_000_000_000 + index)")
    writer.write("userId")
    writer.write("user-\(index * 13 % 5000)")
    writer.write("timestamp")
    writer.write(time)
    writer.write("properties")
    writer.writeMapHeader(4)
    writer.write("path")
    writer.write("/images/page-\(index * 31 % 997).html")
    writer.write("status")
    writer.write([200, 200, 200, 304, 404, 500][index * 11 % 6])
    writer.write("bytes")
    writer.write(index * 17 % 65_536)
    writer.write("rate")
    writer.write(Double(index % 100) / 8)
    return writer.bytes
  }

  /// Seconds that DuckDB takes for the same question, its start not counted; nil where it is absent.
  private static func duckDB(_ files: [String]) throws -> Double? {
    let list = files.map { "'\($0)'" }.joined(separator: ",")
    let code = """
      import duckdb, time
      connection = duckdb.connect()
      query = "SELECT properties->'status', count(*) FROM read_json([\(list)], \
      format='newline_delimited', compression='zstd', columns={properties: 'JSON'}) GROUP BY 1"
      best = 1e9
      for _ in range(3):
          start = time.monotonic()
          connection.execute(query).fetchall()
          best = min(best, time.monotonic() - start)
      print(best)
      """
    let (status, output, _) = try ChildProcess.run("python3", ["-c", code], limit: .seconds(300))
    guard status == .exited(0) else { return nil }
    return Double(String(decoding: output, as: UTF8.self).split(separator: "\n").first ?? "")
  }

  private static func best(_ body: () throws -> Void) throws -> Double {
    var best = Double.infinity
    for _ in 0..<3 {
      let start = SystemClock.monotonic()
      try body()
      best = min(best, Double(SystemClock.monotonic() - start) / 1e9)
    }
    return best
  }

  private static func milliseconds(_ seconds: Double) -> Int { Int(seconds * 1000) }
}
