import BusProtocol
import Destinations
import EventCodec
import Primitives
import ServiceRuntime

/// How dead letters are printed.
enum DeadLetterText {
  static let table = Table([
    .init("id", .right), .init("since"), .init("event"), .init("user"), .init("status", .right),
    .init("tries", .right), .init("state"), .init("reason"),
  ])

  static func row(_ letter: DeadLetter) -> [String] {
    [
      "\(letter.id)", letter.died.text, name(letter.payload), user(letter.payload),
      letter.refusal.status == 0 ? "-" : "\(letter.refusal.status)", "\(letter.refusal.tries)",
      letter.state.word + (letter.isEdited ? ", edited" : ""), letter.refusal.reason,
    ]
  }

  /// One line: the event as canonical JSON under `event`.
  static func json(_ letter: DeadLetter) -> String {
    let head = JSONText.object([
      .init("id", .integer(letter.id)), .init("state", .text(letter.state.word)),
      .init("origin", .text(letter.refusal.origin.rawValue)),
      .init("reason", .text(letter.refusal.reason)),
      .init("status", .integer(Int64(letter.refusal.status))),
      .init("answer", .text(letter.refusal.answer)), .init("route", .text(letter.route)),
      .init("tries", .integer(Int64(letter.refusal.tries))),
      .init("diedAt", .text(letter.died.text)), .init("receivedAt", .text(letter.received.text)),
      .init("offset", .integer(Int64(clamping: letter.position.offset))),
      .init("epoch", .integer(Int64(letter.position.epoch))),
      .init("edited", .boolean(letter.isEdited)),
    ])
    return "\(head)".dropLast() + ",\"event\":\(event(letter.payload))}"
  }

  static func whole(_ letter: DeadLetter) -> String {
    let refusal = letter.refusal
    let status = refusal.status == 0 ? "none" : "HTTP \(refusal.status)"
    var text =
      "dead letter \(letter.id), \(letter.state.word)\(letter.isEdited ? ", edited" : "")\n"
    text += "since    \(letter.died.text)\n"
    text +=
      "from     offset \(letter.position.offset), epoch \(letter.position.epoch), taken by the "
    text += "bus \(letter.received.text)\n"
    text += "reason   \(TerminalText.escape(refusal.reason)) (\(refusal.origin.rawValue))\n"
    text += "request  \(TerminalText.escape(letter.route)), \(refusal.tries) tries\n"
    text += "answer   \(status) \(TerminalText.escape(refusal.answer))\n"
    return text + "event    \(TerminalText.escape(event(letter.payload)))\n"
  }

  /// Canonical JSON; `null` for what is no event.
  private static func event(_ payload: [UInt8]) -> String {
    var text: [UInt8] = []
    do throws(CodecError) {
      try unsafe CanonicalJSON.append(payload.span.bytes, to: &text)
    } catch { return "null" }
    return String(decoding: text, as: UTF8.self)
  }

  private static func name(_ payload: [UInt8]) -> String {
    field("event", payload) ?? field("type", payload).map { "$\($0)" } ?? "?"
  }

  private static func user(_ payload: [UInt8]) -> String {
    field("userId", payload) ?? field("anonymousId", payload) ?? "-"
  }

  private static func field(_ name: StaticString, _ payload: [UInt8]) -> String? {
    do throws(MessagePackError) {
      return try unsafe PayloadReader(payload.span.bytes).text(name)
    } catch { return nil }
  }
}
