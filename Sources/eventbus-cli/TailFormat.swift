import EventCodec
import EventModel
import Primitives
import ServiceRuntime

/// How `tail` shows an event.
struct TailFormat {
  private let kind: String
  private let isForTerminal: Bool
  private let template: [TailTemplate.Part]
  private var line: [UInt8] = []

  /// - Parameter isForTerminal: a person reads along, so that no cell may hold a control character.
  init(_ settings: TailSettings, isForTerminal: Bool) {
    kind = settings.format
    self.isForTerminal = isForTerminal
    template = settings.template?.parts ?? []
  }

  /// The line before the first event.
  var heading: String? {
    kind == "csv" ? "offset,timestamp,event,userId,anonymousId,messageId,properties" : nil
  }

  /// Makes the event's line and passes it on.
  mutating func line(
    _ payload: RawSpan, _ name: RawSpan, offset: UInt64, _ write: ([UInt8]) -> Void
  ) throws(CodecError) {
    line.removeAll(keepingCapacity: true)
    switch kind {
    case "ndjson": try CanonicalJSON.append(payload, .init(offset: offset), to: &line)
    case "csv": try csv(payload, name, offset)
    case "template": try fill(payload, offset)
    default: try pretty(payload, name)
    }
    write(line)
  }

  private mutating func pretty(_ payload: RawSpan, _ name: RawSpan) throws(CodecError) {
    let time = try field("timestamp", payload)
    var text = "\(time)  \(TerminalText.escape(string(name)))"
    for (label, key) in [("user", "userId"), ("anonymous", "anonymousId")] {
      let value = try field(key, payload)
      if !value.isEmpty { text += "  \(label)=\(TerminalText.escape(value))" }
    }
    line.append(contentsOf: text.utf8)
    for key in ["properties", "traits"] {
      guard let json = try json([Array(key.utf8)], payload), json != "null" else { continue }
      line.append(contentsOf: "  \(TerminalText.escape(json))".utf8)
    }
  }

  private mutating func csv(
    _ payload: RawSpan, _ name: RawSpan, _ offset: UInt64
  ) throws(CodecError) {
    let cells = [
      "\(offset)", try field("timestamp", payload), string(name), try field("userId", payload),
      try field("anonymousId", payload), try field("messageId", payload),
      try json([Array("properties".utf8)], payload) ?? "",
    ]
    let shown = cells.map { isForTerminal ? TerminalText.escape($0) : $0 }
    line.append(contentsOf: shown.map(JSONCell.csv).joined(separator: ",").utf8)
  }

  private mutating func fill(_ payload: RawSpan, _ offset: UInt64) throws(CodecError) {
    for part in template {
      switch part {
      case .text(let text): line.append(contentsOf: text)
      case .offset: line.append(contentsOf: "\(offset)".utf8)
      case .field(let path):
        let text = path.count == 1 ? try field(path[0], payload) : try plain(path, payload)
        line.append(contentsOf: TerminalText.escape(text).utf8)
      }
    }
  }

  private func field(_ name: String, _ payload: RawSpan) throws(CodecError) -> String {
    try field(Array(name.utf8), payload)
  }

  private func field(_ name: [UInt8], _ payload: RawSpan) throws(CodecError) -> String {
    if name == Array("timestamp".utf8) {
      do throws(MessagePackError) {
        return try PayloadReader(payload).timestamp()?.text ?? ""
      } catch {
        throw CodecError(.syntax, at: error.position)
      }
    }
    return try plain([name], payload)
  }

  /// A text as it is, another value as JSON, an absent one or null as nothing.
  private func plain(_ path: [[UInt8]], _ payload: RawSpan) throws(CodecError) -> String {
    do throws(MessagePackError) {
      switch try PayloadReader(payload).value(at: path) {
      case nil, .null: return ""
      case .string(let text): return text
      default: break
      }
    } catch {
      throw CodecError(.syntax, at: error.position)
    }
    return try json(path, payload) ?? ""
  }

  private func json(_ path: [[UInt8]], _ payload: RawSpan) throws(CodecError) -> String? {
    let range: Range<Int>?
    do throws(MessagePackError) {
      range = try PayloadReader(payload).range(at: path)
    } catch {
      throw CodecError(.syntax, at: error.position)
    }
    guard let range else { return nil }
    var bytes: [UInt8] = []
    try CanonicalJSON.append(value: payload.extracting(range), to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private func string(_ bytes: RawSpan) -> String {
    String(decoding: bytes.copied(), as: UTF8.self)
  }
}
