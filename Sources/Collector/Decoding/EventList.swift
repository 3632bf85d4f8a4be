internal import EventCodec
internal import EventModel
internal import Primitives

/// Where the events of a body are, and what stands beside them.
///
///     { "batch": [event, ...], "sentAt": t, "writeKey": k, "context": {}, "integrations": {} }
///     [event, ...]
///     event
struct EventList {
  enum Shape {
    /// An object with a list called `batch`.
    case batch
    /// A list.
    case list
    /// One event, which is the whole body.
    case single
    /// One event, or a list of them.
    case listOrSingle
  }

  /// Events that one request may have: each costs more memory than its text.
  static let maximumEvents = 10_000

  var events: [Range<Int>] = []
  var sentAt: Range<Int>?
  var writeKey: Range<Int>?
  var context: Range<Int>?
  var integrations: Range<Int>?

  /// - Throws: `BodyError` when the body has another shape or is no JSON outside its events.
  init(_ body: RawSpan, _ shape: Shape) throws(BodyError) {
    var list = EventList(empty: ())
    try unsafe body.withUnsafeBytes { bytes throws(BodyError) in
      var skipper = unsafe JSONSkipper(bytes)
      try list.read(&skipper, shape)
    }
    if shape == .list, let first = list.events.first {
      // A plain list has no place for it: each event carries it, and one attempt has one.
      list.sentAt = Self.member("sentAt", of: first, in: body)
    }
    self = list
  }

  init(empty: ()) {}

  private mutating func read(_ skipper: inout JSONSkipper, _ shape: Shape) throws(BodyError) {
    skipper.skipBlanks()
    guard skipper.at < skipper.count else { throw skipper.error("the body is empty") }
    let isList = skipper.byte(skipper.at) == UInt8(ascii: "[")
    let isObject = skipper.byte(skipper.at) == UInt8(ascii: "{")
    switch shape {
    case .batch:
      guard isObject else {
        throw skipper.error("an object with a list called \"batch\" is expected")
      }
      try readBatch(&skipper)
    case .list:
      guard isList else { throw skipper.error("a list of events is expected") }
      try readElements(&skipper)
    case .single:
      guard isObject else { throw skipper.error("an event is an object") }
      try readSingle(&skipper)
    case .listOrSingle:
      guard isList || isObject else { throw skipper.error("an event or a list is expected") }
      if isList { try readElements(&skipper) } else { try readSingle(&skipper) }
    }
    try skipper.expectEnd()
  }

  private mutating func readBatch(_ skipper: inout JSONSkipper) throws(BodyError) {
    let look = skipper
    let start = skipper.at
    var batch: Range<Int>?
    try skipper.forEachMember { key, value throws(BodyError) in
      if look.holds(key, "batch") {
        guard batch == nil else {
          throw look.error("\"batch\" stands there twice", at: key.lowerBound)
        }
        batch = value
      } else {
        note(key, value, look)
      }
    }
    guard let batch else { throw look.error("there is no \"batch\"", at: start) }
    guard look.byte(batch.lowerBound) == UInt8(ascii: "[") else {
      throw look.error("\"batch\" must be a list", at: batch.lowerBound)
    }
    var inner = look
    inner.at = batch.lowerBound
    try readElements(&inner)
  }

  private mutating func readElements(_ skipper: inout JSONSkipper) throws(BodyError) {
    let look = skipper
    try skipper.forEachElement { value throws(BodyError) in
      guard events.count < Self.maximumEvents else {
        throw look.error("more than \(Self.maximumEvents) events", at: value.lowerBound)
      }
      events.append(value)
    }
  }

  private mutating func readSingle(_ skipper: inout JSONSkipper) throws(BodyError) {
    let look = skipper
    let start = skipper.at
    try skipper.forEachMember { key, value throws(BodyError) in note(key, value, look) }
    events = [start..<skipper.at]
    // They are the event's own.
    context = nil
    integrations = nil
  }

  /// Keys are compared as they are written: nobody escapes these.
  private mutating func note(_ key: Range<Int>, _ value: Range<Int>, _ look: JSONSkipper) {
    if look.holds(key, "sentAt") {
      sentAt = value
    } else if look.holds(key, "writeKey") {
      writeKey = value
    } else if look.holds(key, "context") {
      context = value
    } else if look.holds(key, "integrations") {
      integrations = value
    }
  }
}

extension EventList {
  /// The text of a member of an event that may be broken elsewhere, as far as it can be found; for
  /// naming the event in a verdict. At most 256 bytes.
  static func text(
    of key: StaticString, in event: Range<Int>, of body: RawSpan
  ) -> [UInt8] {
    guard let value = member(key, of: event, in: body), value.count <= 512 else { return [] }
    let json = body.extracting(value)
    do throws(CodecError) {
      let text = Array(try PropertyValue(json: json).stringValue?.utf8 ?? "".utf8)
      return text.count <= 256 ? text : []
    } catch {
      return []
    }
  }

  /// Where the value of a member of an event stands, as far as it can be found.
  private static func member(
    _ key: StaticString, of event: Range<Int>, in body: RawSpan
  ) -> Range<Int>? {
    unsafe body.withUnsafeBytes { bytes -> Range<Int>? in
      var skipper = unsafe JSONSkipper(UnsafeRawBufferPointer(rebasing: bytes[event]))
      let look = skipper
      var found: Range<Int>?
      do throws(BodyError) {
        try skipper.forEachMember { name, value throws(BodyError) in
          if found == nil, look.holds(name, key) { found = value }
        }
      } catch {
        // What was found before the fault is as good.
      }
      return found.map { event.lowerBound + $0.lowerBound..<event.lowerBound + $0.upperBound }
    }
  }
}
