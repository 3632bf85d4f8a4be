import Archive
import BusClient
import BusProtocol
import Hashing
import Primitives
import ServiceRuntime

/// One run of `archive import`: file after file, each by a producer of its own.
struct ArchiveImport {
  private let settings: ArchiveImportSettings
  private let context: Commands.Context
  private var summary = ImportSummary()

  init(_ settings: ArchiveImportSettings, _ context: Commands.Context) {
    self.settings = settings
    self.context = context
  }

  mutating func run() throws -> ExitCode {
    let files = try CommandFailure.translating { () throws(ArchiveError) in
      try ImportFiles(settings.paths)
    }
    let archive = try CommandFailure.translating { () throws(ArchiveError) in
      try ReplaySource(settings.directory)
    }
    if !settings.takesAnyName {
      try SubscriberNames.check(settings.subscribers, context.arguments)
    }
    let refused = try settings.refusedFile.map {
      try FileWriter.forRefusedLines($0, of: files.files.map { FileIdentity(path: $0.path) })
    }
    summary.passedOver = files.passedOver
    let start = SystemClock.monotonic()
    var bar = ProgressBar("bytes read", total: Int(clamping: files.bytes))
    var before = 0
    for file in files.files where summary.outcome.failure == nil {
      guard !context.interruption.isRequested else { break }
      let goesOn = try take(file, archive, refused) { bar.update(before + $0) }
      before += Int(clamping: file.bytes)
      guard goesOn else { break }
    }
    bar.finish()
    summary.outcome.seconds = Double(SystemClock.monotonic() - start) / 1e9
    summary.report(settings)
    return summary.code(context.interruption.code)
  }

  /// One file; false when none should follow.
  private mutating func take(
    _ file: ImportFile, _ archive: ReplaySource, _ refused: FileWriter?,
    _ progress: (Int) -> Void
  ) throws -> Bool {
    let place = "\(TerminalText.escape(file.path)): "
    guard let digest = try digest(of: file.path) else { return false }
    let identity = ImportIdentity(
      digest: digest, archive: archive.key, subscribers: settings.subscribers)
    var lines = LinePublisher(refusedLines: refused, stopsOnError: settings.stopsOnError)
    lines.place = place
    lines.id = { identity.messageId(line: $0) }
    let counts = NameCounts()
    let isDryRun = settings.isDryRun
    var forgotten: UInt64 = 0
    lines.isWanted = { topic, payload in
      // The archiver would leave it out too; nobody else should see it on the way.
      guard !archive.isForgotten(payload) else {
        forgotten += 1
        return false
      }
      if isDryRun { counts.add(topic) }
      return true
    }
    let input = try LineInput(file.path, interruption: context.interruption)
    let notes = PublishNotes(place: place)
    let producer = isDryRun ? nil : try makeProducer(identity, notes)
    if let producer, try !producer.waitForBus(settings.timeout, context.interruption) {
      summary.outcome.wasReached = false
      return false
    }
    let stored = producer?.storedSequence ?? 0
    let damage = try lines.takeAll(
      input, to: producer, context.interruption, progress: progress)
    if let damage { Terminal.error(damage) }
    var outcome = lines.outcome
    if let producer { outcome.add(producer.closeBlocking(deadline: settings.timeout)) }
    outcome.durability = notes.durability
    summary.forgotten += forgotten
    summary.add(outcome, names: counts, isDamaged: damage != nil, wasSent: stored > 0)
    return !(settings.stopsOnError && outcome.refused > 0)
  }

  private func makeProducer(_ identity: ImportIdentity, _ notes: PublishNotes) throws -> Producer {
    var configuration = ProducerConfiguration(
      address: settings.bus, client: "eventbus archive import")
    configuration.identity = .bytes(identity.producer)
    configuration.addressees = settings.subscribers
    configuration.onNotice = { notes.take($0) }
    configuration.onReport = { notes.take($0) }
    configuration.onRefused = { notes.refused($0) }
    return try Producer(configuration)
  }

  /// SHA-256 of the file as it lies there; nil when the process is asked to end.
  private func digest(of path: String) throws -> [UInt8]? {
    let file = try InputFile(path, interruption: context.interruption)
    guard !file.isPipe else {
      throw CommandFailure(.failed, "\(path): no file: what is imported is read twice")
    }
    var hash = SHA256()
    while let chunk = try file.read() {
      if context.interruption.isRequested { return nil }
      unsafe hash.update(chunk.span.bytes)
    }
    return hash.digest()
  }
}

/// How many events of each name were read, for a dry run.
final class NameCounts {
  private(set) var counts: [[UInt8]: UInt64] = [:]

  func add(_ name: [UInt8], _ count: UInt64 = 1) { counts[name, default: 0] += count }

  func add(_ other: NameCounts) {
    for (name, count) in other.counts { add(name, count) }
  }

  /// By the names' bytes.
  var sorted: [(name: String, count: UInt64)] {
    counts.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { (String(decoding: $0.key, as: UTF8.self), $0.value) }
  }

  var table: Table {
    var table = Table([.init("event"), .init("events", .right)])
    for (name, count) in sorted { table.append([name, "\(count)"]) }
    return table
  }

  var json: JSONText {
    .object(sorted.map { JSONText.Member($0.name, .integer(Int64(clamping: $0.count))) })
  }
}
