public import BusProtocol
internal import Primitives
internal import SinkState

/// What a replay or an import must know of an archive, read once, beside its archiver or without one.
public struct ReplaySource: Sendable {
  public let directory: String
  /// `Catalogue.key`.
  public let key: [UInt8]
  /// Behind the last event that is archived.
  public let end: Position
  /// The epochs of its events, rising.
  public let epochs: [UInt32]
  private let forgotten: ForgottenPeople

  /// - Throws: `.missing` when there is no archive.
  public init(_ directory: String) throws(ArchiveError) {
    self = try CatalogueSnapshot.read(directory) { catalogue throws(ArchiveError) in
      try ReplaySource(directory, catalogue)
    }
  }

  private init(_ directory: String, _ catalogue: borrowing Catalogue) throws(ArchiveError) {
    let parts = try catalogue.parts()
    let cursor = try catalogue.progress()?.cursor ?? Position(epoch: 0, offset: 0)
    self.directory = directory
    key = catalogue.key
    end = max(
      cursor, parts.last.map { Position(epoch: $0.epoch, offset: $0.last + 1) } ?? cursor)
    epochs = Set(parts.map(\.epoch)).sorted()
    forgotten = try catalogue.forgotten()
  }

  /// Whether an event must not be brought back: a person in it was forgotten after it happened.
  public func isForgotten(_ payload: RawSpan) -> Bool {
    guard !forgotten.isEmpty else { return false }
    do throws(MessagePackError) {
      return try forgotten.leavesOut(
        EventFields(reading: payload), of: payload,
        at: Position(epoch: .max, offset: .max), isAddressed: true)
    } catch {
      return false
    }
  }
}
