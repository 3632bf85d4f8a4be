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
  private let forgotten: ForgottenPeople

  /// - Throws: `.missing` when there is no archive.
  public init(_ directory: String) throws(ArchiveError) {
    let (key, end, forgotten) = try CatalogueSnapshot.read(directory) {
      catalogue throws(ArchiveError) in
      (catalogue.key, try catalogue.end(), try catalogue.forgotten())
    }
    self.directory = directory
    self.key = key
    self.end = end
    self.forgotten = forgotten
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

extension Catalogue {
  fileprivate func end() throws(ArchiveError) -> Position {
    let cursor = try progress()?.cursor ?? Position(epoch: 0, offset: 0)
    guard let last = try parts().last else { return cursor }
    return max(cursor, Position(epoch: last.epoch, offset: last.last + 1))
  }
}
