internal import BusTransport
internal import Database
internal import EventJournal
public import Primitives
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A running broker: its threads, sockets and files.
///
/// Threads: `eb-bus` owns the ROUTER socket and the core; `eb-writer` writes and syncs the journal;
/// `eb-reader` reads segment files; `eb-live` owns the XPUB; `eb-plain` owns the SUB and PULL;
/// `eb-cursors` commits cursors; and where keys are asked for `eb-access` says who may connect. They talk through mailboxes only, all of which the bus thread empties.
public final class Broker: Sendable {
  public struct Addresses: Hashable, Sendable {
    public var bus = ""
    public var live = ""
    public var publish = ""
    public var push = ""
  }

  public let addresses: Addresses
  /// The public key that clients must know; empty when nobody is asked for one.
  public let serverKey: String
  private let events: Mailbox<BrokerEvent>
  private let thread: OwnedThread
  private let shared: Shared

  final class Shared: Sendable {
    let status = Mutex(BrokerStatus())
    let failure = Mutex<String?>(nil)
    let isReady = Atomic<Bool>(false)
  }

  /// Opens the journal, recovers, binds the sockets and starts. Blocks until all that is done.
  ///
  /// - Parameter report: gets what an operator should know, on one of the broker's threads.
  /// - Throws: ``BrokerError``: which directory, file or address, and what to do.
  public init(
    _ configuration: BrokerConfiguration, version: String = "",
    report: @escaping @Sendable (OperatorReport) -> Void = { _ in }
  ) throws(BrokerError) {
    do {
      let events = try Mailbox<BrokerEvent>()
      let shared = Shared()
      let parts = try BrokerParts(
        configuration, version: version, events: events, report: report)
      let gate = try StartGate()
      let busAddress = configuration.busAddress
      self.events = events
      self.shared = shared
      let thread = try OwnedThread(name: "eb-bus") {
        let failure = gate.run { opened in
          var loop = try BusLoop(parts, address: busAddress, shared: shared, report: report)
          opened(try loop.address())
          try loop.run()
        }
        if let failure { shared.failure.withLock { $0 = "\(failure)" } }
        shared.isReady.store(false, ordering: .relaxed)
      }
      self.thread = thread
      let bus: String
      do { bus = try gate.wait() } catch {
        // It holds the journal and the ports until it ends; whoever asked may try again at once.
        thread.join()
        throw error
      }
      addresses = Addresses(
        bus: bus, live: parts.live.address, publish: parts.plain.publishAddress,
        push: parts.plain.pushAddress)
      serverKey = parts.access.map { "\($0.serverKey.publicKey)" } ?? ""
      shared.isReady.store(true, ordering: .relaxed)
    } catch {
      throw BrokerError(error)
    }
  }

  /// The broker as it was at most a second ago. Any thread.
  public var status: BrokerStatus { shared.status.withLock { $0 } }

  /// Whether it takes part: false once it ended, for whatever reason.
  public var isRunning: Bool { shared.isReady.load(ordering: .relaxed) }

  /// Why it ended by itself; nil while it runs or when it was stopped.
  public var failure: String? { shared.failure.withLock { $0 } }

  /// Begins an orderly end: takes nothing new, writes and acknowledges what it has, closes the journal.
  public func stop() { events.post(.stop) }

  /// Waits for the end. Call it once.
  public func join() { thread.join() }
}

/// Why a broker could not start.
public struct BrokerError: Error, Sendable, CustomStringConvertible {
  public enum Kind: Hashable, Sendable {
    /// Another broker works on the directory.
    case directoryInUse
    /// A file could not be read or written, or is damaged.
    case disk
    case addressInUse(port: UInt16)
    /// The broker's key or the file of keys cannot be used.
    case keys
    case other
  }

  public var kind: Kind
  public var description: String

  init(_ error: any Error) {
    description = "\(error)"
    switch error {
    case let error as BrokerError: self = error
    case let error as JournalError:
      if case .locked = error { kind = .directoryInUse } else { kind = .disk }
    case let error as TransportError where error.kind == .addressInUse:
      let port = error.address.split(separator: ":").last.flatMap { UInt16($0) }
      kind = .addressInUse(port: port ?? 0)
    case let error as SystemError where error.call == "mkdir" && error.code == ENOENT:
      // Not made here: it may be a disk that is not mounted.
      kind = .disk
      description += ": the directory above it must be there"
    case is SystemError, is BrokerSnapshotError, is DatabaseError: kind = .disk
    case is CurveKeyFile.Failure, is AccessFile.Failure: kind = .keys
    default: kind = .other
    }
  }
}
