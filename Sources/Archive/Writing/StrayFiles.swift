internal import BusProtocol
internal import SinkState

/// Tells what a killed process left from what the catalogue ought to know.
///
/// Left are: what is unfinished; a part that got its name and did not get into the catalogue, whose events
/// the bus sends again, as often as that was tried; files whose events are in catalogued ones, as compaction and
/// forgetting leave them; and parts of which everything was forgotten.
struct StrayFiles {
  struct File {
    /// Below the archive's directory.
    var path: String
    var name: String
  }

  private let directory: String
  private let parts: [Part]
  private let progress: SinkProgress?

  init(_ catalogue: borrowing Catalogue) throws(ArchiveError) {
    directory = catalogue.directory
    parts = try catalogue.parts()
    progress = try catalogue.progress()
  }

  /// - Throws: when a file may hold what is nowhere else.
  func check(_ files: [File]) throws(ArchiveError) {
    var ahead: ClosedRange<Position>?
    for file in files {
      guard let range = ArchiveNames.range(of: file.name) else { continue }
      if let progress, range.lowerBound >= progress.cursor, overlapping(range).isEmpty {
        let isAgain = ahead.map { $0.overlaps(range) } ?? true
        ahead = ahead ?? range
        if isAgain { continue }
      } else if isLeft(range) {
        continue
      }
      throw ArchiveError(
        .damaged,
        "\(directory)/\(file.path) and perhaps more files are in no catalogue, and nothing else has their "
          + "events: put back the \(ArchiveNames.catalogue) that knows them, or move them away, unpack them "
          + "by zstd -d, and bring them in by `eventbus archive import`")
    }
  }

  private func isLeft(_ range: ClosedRange<Position>) -> Bool {
    let listed = overlapping(range)
    guard !listed.isEmpty else {
      return progress.map { range.lowerBound >= $0.ledger.start } ?? false
    }
    return listed.allSatisfy { FileSystem.exists("\(directory)/\($0.path)") }
  }

  private func overlapping(_ range: ClosedRange<Position>) -> [Part] {
    parts.filter { ($0.firstPosition...$0.lastPosition).overlaps(range) }
  }
}
