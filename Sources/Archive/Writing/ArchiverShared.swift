internal import BusClient
internal import Primitives
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What the archiver's thread and its owner share.
final class ArchiverShared: Sendable {
  let status = Mutex(ArchiverStatus())
  let failure = Mutex<ArchiverFailure?>(nil)
  let stopSignal: WakeSignal
  /// Signalled once: at the bus's first answer, or at the end if that comes first.
  let ready: WakeSignal
  private let isStopping = Atomic<Bool>(false)

  init() throws(SystemError) {
    stopSignal = try WakeSignal()
    ready = try WakeSignal()
  }

  var mustStop: Bool { isStopping.load(ordering: .relaxed) }

  func stop() {
    isStopping.store(true, ordering: .relaxed)
    stopSignal.signal()
  }

  /// Waits that long, or until it is to stop; true then.
  func pause(_ duration: Duration) -> Bool {
    var item = pollfd(fd: stopSignal.descriptor, events: Int16(POLLIN), revents: 0)
    if !mustStop { _ = unsafe poll(&item, 1, Int32(clamping: duration.nanoseconds / 1_000_000)) }
    return mustStop
  }
}

/// Why an archiver ended by itself.
public enum ArchiverFailure: Error, Sendable, CustomStringConvertible {
  case archive(ArchiveError)
  /// Another archiver took the cursor's name.
  case fenced
  case bus(String)

  public var description: String {
    switch self {
    case .archive(let error): "\(error)"
    case .fenced: "another archiver took over this name at the bus"
    case .bus(let text): text
    }
  }

  init(_ error: BusClientError) {
    self = error == .fenced ? .fenced : .bus("\(error)")
  }
}
