internal import EventCodec
internal import EventModel
internal import Primitives

/// What of an event's `context` has a name of its own at Mixpanel.
enum MixpanelContext {
  private static let table: [(path: [StaticString], key: StaticString)] = [
    (["ip"], "ip"), (["os", "name"], "$os"), (["os", "version"], "$os_version"),
    (["device", "manufacturer"], "$manufacturer"), (["device", "model"], "$model"),
    (["app", "version"], "$app_version_string"), (["page", "url"], "$current_url"),
    (["page", "referrer"], "$referrer"), (["locale"], "$locale"),
  ]

  /// Appends the texts that are there, but for keys that the event has itself; returns how many.
  static func append(
    _ event: borrowing EnvelopeView, besides keys: ByteInterner, to item: inout [UInt8]
  ) throws(CodecError) -> Int {
    guard event.isMap(.context) else { return 0 }
    let context = event.value(.context)
    var count = 0
    for (path, key) in table where keys.find(key.bytes) == nil {
      let range: Range<Int>?
      do throws(MessagePackError) {
        range = try PayloadReader(context).range(at: path.map { $0.bytes.copied() })
      } catch { throw CodecError(error) }
      guard let range, context.extracting(range).isText else { continue }
      item.key(key)
      try CanonicalJSON.append(value: context.extracting(range), to: &item)
      count += 1
    }
    return count
  }
}

extension RawSpan {
  /// Whether this MessagePack value is a text that is not empty.
  var isText: Bool {
    let type = isEmpty ? 0 : bigEndian(at: 0, as: UInt8.self)
    return (0xA1...0xBF).contains(type) || (0xD9...0xDB).contains(type)
  }

  /// UTF-8 for a person to read, at most 100 bytes.
  var shownText: String {
    CleanText.clean(String(decoding: copied(), as: UTF8.self), limit: 100)
  }
}

extension StaticString {
  var bytes: RawSpan {
    @_lifetime(immortal)
    get {
      let buffer = unsafe UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
      return unsafe _overrideLifetime(buffer.bytes, copying: ())
    }
  }
}
