internal import Archive
internal import BusProtocol
internal import CPlatform
internal import Primitives
internal import TestSupport

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What archiving costs on one core: decisions, lines, compression, checksums and commits, from batches in
/// memory to files on disk, against `zstd -1` over the same lines in the same run.
enum ArchiveBenchmark {
  private static let count = 1_000_000

  static func run() throws {
    let folder = try TemporaryFolder()
    let events = ArchiveEvents(count)
    report(
      "\(count) events of \(events.bytes.count / count) bytes, \(ArchiveEvents.names.count) names")
    let directory = folder.file("archive")
    let (seconds, cpu, bytes) = try archive(events, directory)
    let rate = Int(Double(count) / seconds)
    report("archive: \(rate) events/s, \(nanoseconds(cpu)) ns of CPU an event (target 400000/s)")
    guard let reference = try compress(directory, folder) else {
      return report("zstd is not installed: no ratio")
    }
    report(
      "zstd -1: \(nanoseconds(reference)) ns of CPU an event, \(bytes) bytes of lines an event")
    let ratio = Double(Int(cpu / reference * 100)) / 100
    report("ratio of CPU to zstd -1: \(ratio) (target 2.5, aim 1.7)")
  }

  private static func nanoseconds(_ seconds: Double) -> Int {
    Int(seconds * 1e9 / Double(count))
  }

  /// Seconds, seconds of CPU, and bytes of a line.
  private static func archive(
    _ events: ArchiveEvents, _ directory: String
  ) throws -> (Double, Double, UInt64) {
    var writer = try ArchiveWriter(
      ArchiverConfiguration(directory: directory, address: "tcp://127.0.0.1:1"))
    try writer.begin(at: Position(epoch: 1, offset: 0), seekGeneration: 0)
    let start = SystemClock.monotonic()
    let cpu = eb_process_cpu_ns()
    let payloads = unsafe events.bytes.span.bytes
    for index in 0..<count {
      let position = Position(epoch: 1, offset: UInt64(index))
      try unsafe writer.take(
        EventPlace(position: position, time: 1_764_500_000_000_000_000 + Int64(index / 500)),
        name: events.name(index).span.bytes, payload: payloads.extracting(events.range(index)))
      guard index % 500 == 499 else { continue }
      writer.advance(to: Position(epoch: 1, offset: UInt64(index + 1)))
      if writer.isDue(at: SystemClock.monotonic()) { try writer.commit() }
    }
    writer.advance(to: Position(epoch: 1, offset: UInt64(count)))
    try writer.commit()
    let usage = Double(eb_process_cpu_ns() - cpu) / 1e9
    let seconds = Double(SystemClock.monotonic() - start) / 1e9
    let raw = try Catalogue(reading: directory).parts().reduce(0) { $0 + $1.rawBytes }
    return (seconds, usage, raw / UInt64(count))
  }

  /// Seconds of CPU that `zstd -1` takes for the lines of the archive; nil where there is none.
  private static func compress(_ directory: String, _ folder: TemporaryFolder) throws -> Double? {
    let lines = folder.file("lines")
    let unpack = "cat \(directory)/date=*/hour=*/*.zst | zstd -dcq > \(lines)"
    guard try ChildProcess("/bin/sh", ["-c", unpack]).wait() == .exited(0) else { return nil }
    let before = childSeconds()
    let zstd = try ChildProcess("zstd", ["-1", "-T1", "-q", "-f", lines, "-o", folder.file("out")])
    guard zstd.wait() == .exited(0) else { return nil }
    return childSeconds() - before
  }

  private static func childSeconds() -> Double {
    var usage = rusage()
    _ = unsafe getrusage(RUSAGE_CHILDREN.rawValue, &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }
}

/// Encoded events of 200 to 280 bytes as an app sends them: some names, many users, ids of their own.
struct ArchiveEvents {
  static let names = [
    "Product Viewed", "Product Added", "Checkout Started", "Order Completed", "Signed Up",
    "Searched",
    "Game Started", "Game Ended",
  ]
  private static let nameBytes = names.map { Array($0.utf8) }

  private(set) var bytes: [UInt8] = []
  private var ends: [Int] = []
  private var nameOf: [UInt8] = []

  init(_ count: Int) {
    var random = SeededRandom(seed: 42)
    bytes.reserveCapacity(count * 250)
    for index in 0..<count {
      let name = Int.random(in: 0..<Self.names.count, using: &random)
      nameOf.append(UInt8(name))
      append(Self.names[name], index, &random)
      ends.append(bytes.count)
    }
  }

  func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

  func name(_ index: Int) -> [UInt8] { Self.nameBytes[Int(nameOf[index])] }

  private mutating func append(_ name: String, _ index: Int, _ random: inout SeededRandom) {
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    var writer = MessagePackWriter(appendingTo: taken)
    taken = []
    writer.writeMapHeader(7)
    field(&writer, "type", "track")
    field(&writer, "event", name)
    let time: Int64 = 1_764_500_000_000_000_000 + Int64(index) * 1_000_000
    writer.write("messageId")
    writer.write(
      UUIDv7(high: 0x0190_163D_8694_7000 &+ UInt64(index), low: random.next()).description)
    field(&writer, "userId", "user-\(Int.random(in: 0..<50_000, using: &random))")
    field(&writer, "anonymousId", "device-\(Int.random(in: 0..<80_000, using: &random))")
    writer.write("timestamp")
    writer.write(time)
    writer.write("properties")
    writer.writeMapHeader(5)
    field(&writer, "plan", ["free", "pro", "team"].randomElement(using: &random) ?? "")
    writer.write("amount")
    writer.write(Double(Int.random(in: 100..<100_000, using: &random)) / 100)
    writer.write("count")
    writer.write(Int.random(in: 0..<30, using: &random))
    writer.write("isNew")
    writer.write(Bool.random(using: &random))
    let page = "/shop/item/\(Int.random(in: 0..<5000, using: &random))"
    field(&writer, "page", page + ["", "?from=mail", "?from=search&rank=3"][index % 3])
    swap(&bytes, &writer.bytes)
  }

  private func field(_ writer: inout MessagePackWriter, _ key: String, _ value: String) {
    writer.write(key)
    writer.write(value)
  }
}
