import Aggregation
import Archive
import BusClient
import BusProtocol
import Database
import Destinations
import EventJournal
import Inspection
import Primitives
import ServiceRuntime
import SinkState

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Gathers what `doctor` judges. Nothing is changed, nothing is waited for beyond a stated time, and what
/// cannot be seen is left out of the facts, not out of the report.
struct DoctorLook {
  /// The journal is read whole up to this size: a second or two.
  private static let wholeJournal = 2 << 30

  private let context: Commands.Context
  private let data: String
  private let bus: String
  private let ports: ServicePorts

  init(_ context: Commands.Context) throws {
    self.context = context
    data = try context.arguments.requiredText("data")
    ports = try ServicePorts(
      beside: try context.arguments.requiredText("bus"), context.arguments)
    bus = try ports.bus(context.arguments)
  }

  func facts() throws -> DoctorFacts {
    var facts = DoctorFacts(
      now: SystemClock.realtime(), version: Commands.version, bus: bus, data: data)
    facts.maximumLag = UInt64(try context.arguments.value("maximum-lag", in: 0...Int.max))
    // The broker first: sinks tell it their cursor after they have stored it, so theirs cannot be behind.
    facts.broker = broker(try context.arguments.value("timeout", as: Duration.self))
    facts.sinks = sinks()
    if case .answered = facts.broker, case .answered(let later) = broker(.seconds(2)) {
      facts.headAfter = Position(
        epoch: UInt32(clamping: later.number("epoch")), offset: later.number("head"))
    }
    facts.journal = journal()
    facts.disk = disk()
    facts.openDirectories = openDirectories()
    facts.closedDirectories = [data, archiveDirectory].filter {
      unsafe access($0, R_OK | X_OK) != 0 && errno == EACCES
    }
    facts.archive = archive()
    facts.services = ServiceProbe(ports, isUsed: isUsed).services()
    facts.openFiles = openFiles()
    return facts
  }

  private func broker(_ timeout: Duration) -> DoctorFacts.Broker {
    do throws(BusClientError) {
      var administration = try BusAdministration(address: bus)
      administration.deadline = timeout
      return .answered(try administration.status())
    } catch {
      if case .timedOut = error {
        return .silent(
          why: BusHost.unknown(in: bus) ?? "no answer within \(timeout)",
          somebodyListens: ServiceProbe.listens(at: bus))
      }
      return .silent(why: "\(error)", somebodyListens: false)
    }
  }

  private var archiveDirectory: String { context.arguments.text("dir") ?? data + "/archive" }
  private var aggregatorDirectory: String { data + "/aggregator" }

  private func isUsed(_ service: String) -> Bool {
    switch service {
    case "archiver": exists(archiveDirectory + "/" + ArchiveNames.catalogue)
    case "aggregator": exists(StoredProgress.file(in: aggregatorDirectory))
    case "broker": exists(data + "/cursors.sqlite")
    default: DestinationFolder(data: data, name: service).hasState
    }
  }

  private func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  private func sinks() -> [DoctorFacts.Sink] {
    var sinks: [DoctorFacts.Sink] = []
    if isUsed("archiver") {
      var sink = DoctorFacts.Sink(
        name: "archiver", file: archiveDirectory + "/" + ArchiveNames.catalogue)
      do throws(ArchiveError) {
        sink.progress = try Catalogue(reading: archiveDirectory).progress()
      } catch { sink.trouble = "\(error)" }
      sinks.append(sink)
    }
    if isUsed("aggregator") {
      var sink = DoctorFacts.Sink(
        name: "aggregator", file: StoredProgress.file(in: aggregatorDirectory))
      do throws(DatabaseError) {
        sink.progress = try StoredProgress.read(aggregatorDirectory)
      } catch { sink.trouble = "\(error)" }
      sinks.append(sink)
    }
    return sinks + destinations()
  }

  private func destinations() -> [DoctorFacts.Sink] {
    DestinationFolder.all(data: data).map { folder in
      var sink = DoctorFacts.Sink(name: Self.name(of: folder), file: folder.stateFile)
      do throws(DatabaseError) {
        let stored = try StoredStatus(folder)
        sink.progress = stored.progress
        sink.letters = UInt64(clamping: stored.letters.count)
        sink.lettersDropped = UInt64(clamping: stored.letters.dropped)
        var delivery = DoctorFacts.Delivery(folder: folder.path)
        delivery.isRunning = stored.isRunning
        delivery.state = stored.state
        delivery.reason = stored.reason
        delivery.oldest = stored.oldest?.nanoseconds
        sink.delivery = delivery
      } catch { sink.trouble = "\(error)" }
      return sink
    }
  }

  /// The subscriber's name: the folder's with each %XX as the byte that it stands for.
  private static func name(of folder: DestinationFolder) -> String {
    var bytes: [UInt8] = []
    var rest = Array(folder.folderName.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == UInt8(ascii: "%"), let value = UInt8(digits, radix: 16) {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func journal() -> DoctorFacts.JournalFact {
    guard isUsed("broker") else { return .none }
    do throws(JournalError) {
      let storage = DirectoryStorage(path: data)
      guard let info = try Journal.info(storage) else { return .none }
      var journal = DoctorFacts.Journal(
        earliest: info.offsets.lowerBound, head: info.offsets.upperBound,
        epoch: UInt64(info.epochs.last?.number ?? 0), bytes: UInt64(info.byteCount),
        damages: [], isWhole: false)
      if info.byteCount <= Self.wholeJournal || context.arguments.flag("full") {
        let found = try Journal.verify(storage)
        journal.damages = found.damages.map { "\($0)" }
        journal.lost = found.lost
        journal.isWhole = true
      }
      return .read(journal)
    } catch {
      return .unreadable(why: "\(error)")
    }
  }

  private func disk() -> DoctorFacts.Disk? {
    var info = statvfs()
    guard unsafe statvfs(data, &info) == 0 else { return nil }
    let block = UInt64(info.f_frsize)
    return DoctorFacts.Disk(
      free: UInt64(info.f_bavail) * block, total: UInt64(info.f_blocks) * block,
      // File systems that make inodes as they need them tell of none at all.
      freeFiles: info.f_files == 0 ? .max : UInt64(info.f_favail))
  }

  private func openDirectories() -> [String]? {
    var found: [(path: String, isOpen: Bool)] = []
    for path in [data, archiveDirectory] {
      if let isOpen = FileModes.isOpenToOthers(path) { found.append((path, isOpen)) }
    }
    return found.isEmpty ? nil : found.filter(\.isOpen).map(\.path)
  }

  private func archive() -> DoctorFacts.ArchiveFact? {
    guard isUsed("archiver") else { return nil }
    var fact = DoctorFacts.ArchiveFact(directory: archiveDirectory)
    do throws(ArchiveError) {
      let listing = try ArchiveListing(comparing: archiveDirectory)
      fact.parts = listing.parts
      fact.events = listing.events
      fact.missingFiles = listing.missingFiles
      fact.wrongSizes = listing.wrongSizes
      fact.strayFiles = listing.strayFiles
      fact.overlaps = listing.overlaps
    } catch { fact.trouble = "\(error)" }
    return fact
  }

  private func openFiles() -> (soft: UInt64, hard: UInt64)? {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return nil
    }
    return (UInt64(limit.rlim_cur), UInt64(limit.rlim_max))
  }
}
