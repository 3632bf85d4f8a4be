internal import BusProtocol
internal import EventCodec
internal import Primitives

/// What every event goes through once it is a payload, whatever form it came in.
enum PayloadChecks {
  /// Checks who it is about, gives it the name that the plan has for its path, carries out the rules, and
  /// tells its name and where its messageId stands.
  static func finish(
    _ given: [UInt8], _ payloads: inout [UInt8], from start: Int, needsIdentity: Bool,
    _ mapping: PathMapping, _ rules: inout RuleApplication
  ) throws(EventRefusal) -> (topic: [UInt8], messageId: Range<Int>) {
    let topic = try mapping.apply(given, &payloads, from: start)
    if needsIdentity {
      let payload = unsafe payloads.span.bytes.extracting(start...)
      guard try read({ () throws(MessagePackError) in try hasIdentity(payload, topic) }) else {
        throw .noIdentity
      }
    }
    do throws(MessagePackError) {
      try rules.apply(topic, &payloads, from: start)
    } catch {
      throw malformed(error)
    }
    let payload = unsafe payloads.span.bytes.extracting(start...)
    let id = try read { () throws(MessagePackError) in try messageId(payload) }
    guard id.count <= EventRefusal.maximumMessageIdBytes else { throw .messageIdTooLong }
    return (topic, start + id.lowerBound..<start + id.upperBound)
  }

  /// What was just encoded reads, so this only keeps a fault of ours from ending the process.
  private static func malformed(_ error: MessagePackError) -> EventRefusal {
    EventRefusal(.badPayload, "\(error)")
  }

  private static func read<T>(
    _ body: () throws(MessagePackError) -> T
  ) throws(EventRefusal) -> T {
    do throws(MessagePackError) { return try body() } catch { throw malformed(error) }
  }

  /// An event about nobody can be counted by nobody, and every provider refuses it.
  private static func hasIdentity(
    _ payload: RawSpan, _ topic: [UInt8]
  ) throws(MessagePackError) -> Bool {
    let reader = PayloadReader(payload)
    let hasUser = try isGiven(reader.range(of: "userId"), payload)
    if topic == Array("$alias".utf8) {
      return hasUser ? try isGiven(reader.range(of: "previousId"), payload) : false
    }
    return hasUser ? true : try isGiven(reader.range(of: "anonymousId"), payload)
  }

  private static func isGiven(_ range: Range<Int>?, _ payload: RawSpan) -> Bool {
    guard let range else { return false }
    let first: UInt8 = payload.bigEndian(at: range.lowerBound)
    // Neither null nor an empty text.
    return first != 0xC0 && first != 0xA0
  }

  /// The characters of the id, which every payload has.
  private static func messageId(_ payload: RawSpan) throws(MessagePackError) -> Range<Int> {
    guard let range = try PayloadReader(payload).range(of: "messageId") else {
      throw MessagePackError(.wrongType, at: 0)
    }
    var reader = MessagePackReader(payload, at: range.lowerBound)
    return try reader.readStringRange()
  }
}
