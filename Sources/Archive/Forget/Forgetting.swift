internal import Primitives

/// When the archiver works at erasing people, and what keeps it from it.
struct Forgetting {
  /// Another process replaces parts, as a compaction does: looked at again after this long.
  private static let retryInterval: Int64 = 1_000_000_000
  /// Damaged parts are looked at again after this long: somebody may have mended them.
  private static let blockedInterval: Int64 = 60_000_000_000

  var rewriter = ForgetRewriter()
  /// Monotonic; a start finds out first whether a killed archiver left something to be done.
  private var next: Int64? = 0
  /// Damaged parts that hold somebody who asked to be forgotten.
  private(set) var damages: [PartDamage] = []

  /// A request was committed.
  mutating func begin() { next = 0 }

  func isDue(at now: Int64) -> Bool { next.map { $0 <= now } ?? false }

  mutating func took(_ step: ForgetRewriter.Step, at now: Int64) {
    switch step {
    case .worked: next = 0
    case .idle, .finished:
      next = nil
      damages = []
    case .blocked(let found):
      next = now + Self.blockedInterval
      damages = found
      rewriter = ForgetRewriter()
    }
  }

  mutating func wait(at now: Int64) { next = now + Self.retryInterval }
}

extension ArchiveWriter {
  /// Does the next piece of erasing people: one part at most. Interrupted at any moment it goes on with
  /// the next call, or the next start.
  mutating func forget() throws(ArchiveError) {
    let now = SystemClock.monotonic()
    let lock: ArchiveLock
    do throws(ArchiveError) {
      lock = try ArchiveLock(.maintenance, of: catalogue.directory)
    } catch {
      guard error.kind == .inUse else { throw error }
      return forgetting.wait(at: now)
    }
    forgetting.took(
      try forgetting.rewriter.step(catalogue, at: SystemClock.realtime()), at: now)
    _ = consume lock
  }
}
