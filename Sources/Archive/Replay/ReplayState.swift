// `DIR/replays/<name>`: how far a replay is, one word and its value a line, in this order:
//
//   eventbus-replay 1           version; another one is refused
//   run N                       which sending of it: `--again` takes another number
//   from N                      nanoseconds since 1970, or `-`: the bounds as the first run read them
//   until N
//   end EPOCH:OFFSET            the archive's end when it began: what came later is not of this replay
//   next EPOCH:OFFSET           everything before it is acknowledged or not wanted
//   acknowledged N
//   refused N
//   complete 0|1
//
// Written anew under a name beside it, synced and renamed; the name is a digest, so nothing of the
// conditions stands here. It only saves reading: what was sent, the broker knows by the sequences.
public import BusProtocol
internal import Primitives

/// How far a replay is.
public struct ReplayState: Hashable, Sendable {
  public var run: UInt64
  /// Half open, of the events' `timestamp`.
  public var from: Int64?
  public var until: Int64?
  public var end: Position
  public var next: Position
  public var acknowledged: UInt64 = 0
  public var refused: UInt64 = 0
  public var isComplete = false

  public init(run: UInt64 = 0, from: Int64? = nil, until: Int64? = nil, end: Position) {
    self.run = run
    self.from = from
    self.until = until
    self.end = end
    next = Position(epoch: 0, offset: 0)
  }

  var text: String {
    """
    eventbus-replay 1
    run \(run)
    from \(from.map { "\($0)" } ?? "-")
    until \(until.map { "\($0)" } ?? "-")
    end \(end.epoch):\(end.offset)
    next \(next.epoch):\(next.offset)
    acknowledged \(acknowledged)
    refused \(refused)
    complete \(isComplete ? 1 : 0)

    """
  }

  /// Nil for anything else than `text` writes.
  init?(text: String) {
    let lines = text.split(separator: "\n")
    let words = [
      "eventbus-replay", "run", "from", "until", "end", "next", "acknowledged", "refused",
      "complete",
    ]
    guard lines.count == words.count else { return nil }
    var values: [Substring] = []
    for (line, word) in zip(lines, words) {
      guard line.hasPrefix(word + " ") else { return nil }
      values.append(line.dropFirst(word.utf8.count + 1))
    }
    guard values[0] == "1", let run = UInt64(values[1]), let end = Self.position(values[4]),
      let next = Self.position(values[5]), let acknowledged = UInt64(values[6]),
      let refused = UInt64(values[7]), values[2] == "-" || Int64(values[2]) != nil,
      values[3] == "-" || Int64(values[3]) != nil
    else { return nil }
    self.run = run
    from = Int64(values[2])
    until = Int64(values[3])
    self.end = end
    self.next = next
    self.acknowledged = acknowledged
    self.refused = refused
    isComplete = values[8] == "1"
  }

  private static func position(_ text: Substring) -> Position? {
    let parts = text.split(separator: ":")
    guard parts.count == 2, let epoch = UInt32(parts[0]), let offset = UInt64(parts[1]) else {
      return nil
    }
    return Position(epoch: epoch, offset: offset)
  }
}

extension ReplayState {
  /// The state of a replay; nil when there is none.
  ///
  /// - Throws: `.damaged` for a file that is not one.
  public static func load(_ folder: String, _ name: String) throws(ArchiveError) -> ReplayState? {
    let path = folder + "/" + name
    guard try FileSystem.isThere(path) else { return nil }
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try FileSystem.contents(path, limit: 4096)
    } catch {
      throw ArchiveError(error)
    }
    guard let state = ReplayState(text: String(decoding: bytes, as: UTF8.self)) else {
      throw ArchiveError(
        .damaged, "\(path) is no state of a replay of this version: remove it to begin anew")
    }
    return state
  }

  public func store(_ folder: String, _ name: String) throws(ArchiveError) {
    do throws(SystemError) {
      try FileSystem.makeFolder(folder)
      try FileSystem.replace(folder, name, with: Array(text.utf8))
    } catch {
      throw ArchiveError(error)
    }
  }
}
