internal import EventCodec
internal import EventModel
internal import HTTPClient

/// Answers that say what became of each item.
enum ItemStatuses {
  /// The answer's body as JSON; nil when it is none, or was cut off.
  static func value(_ reply: HTTPReply) -> PropertyValue? {
    guard !reply.isBodyCut, !reply.body.isEmpty else { return nil }
    do throws(CodecError) {
      return try unsafe PropertyValue(json: reply.body.span.bytes)
    } catch { return nil }
  }

  /// The items that a success refuses: `{"events": [{"status": 413}, {"status": 201}]}`, one element an
  /// item, of which a status of 400 and more is a refusal. Empty for any other answer.
  static func refused(_ reply: HTTPReply, count: Int) -> [Int: String] {
    guard case .array(let elements)? = value(reply)?.objectValue?["events"],
      elements.count == count
    else { return [:] }
    var refused: [Int: String] = [:]
    for (index, element) in elements.enumerated() {
      guard let object = element.objectValue, case .int(let status)? = object["status"],
        status >= 400
      else { continue }
      refused[index] = reason(object) ?? "status \(status) in the answer"
    }
    return refused
  }

  /// What an object says about an error, by the usual names.
  static func reason(_ object: PropertyObject) -> String? {
    let text = ["message", "error", "reason", "description"].lazy
      .compactMap { object[$0]?.stringValue }.first
    let field = object["field"]?.stringValue
    return switch (field, text) {
    case (let field?, let text?): "\(field): \(text)"
    case (let one?, nil), (nil, let one?): one
    case (nil, nil): nil
    }
  }
}
