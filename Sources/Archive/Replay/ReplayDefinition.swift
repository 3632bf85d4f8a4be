internal import Hashing
internal import Primitives

/// What makes a replay the same replay when its command is given again.
///
/// Written from the words of the command, not from what they come to: `7d` is another time at each run,
/// and the replay that is to go on is still the same.
public struct ReplayDefinition: Hashable, Sendable {
  /// Who gets the events, each once, in the order of the names.
  public let subscribers: [String]
  /// The conditions as they were given, as `event=Game *`; in any order.
  public let conditions: [String]

  public init(subscribers: [String], conditions: [String]) {
    self.subscribers = Set(subscribers).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    self.conditions = conditions.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Stands for the definition where the conditions must not stand, since one may be a person's id:
  /// 32 hexadecimal digits.
  ///
  /// - Parameter archive: `Catalogue.key`.
  public func name(archive: [UInt8]) -> String {
    Hex.encode(Array(digest("eventbus replay", archive).prefix(16)))
  }

  /// The identity of the producer that sends an epoch of it: 16 bytes.
  ///
  /// - Parameter run: another number sends all of it once more.
  public func producer(archive: [UInt8], run: UInt64, epoch: UInt32) -> [UInt8] {
    var bytes = Array(digest("eventbus replay \(run) \(epoch)", archive).prefix(16))
    // All zero stands for nobody.
    bytes[15] |= 1
    return bytes
  }

  private func digest(_ purpose: String, _ archive: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    for list in [[purpose], subscribers, conditions] {
      text.appendBigEndian(UInt32(list.count))
      for word in list {
        text.appendBigEndian(UInt32(word.utf8.count))
        text += Array(word.utf8)
      }
    }
    text += archive
    return unsafe SHA256.digest(of: text.span.bytes)
  }
}
