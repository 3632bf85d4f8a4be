// FETCH, ADMIN and REPLY: stateless requests, answered to whoever asked. The header's token is the
// request's number. FETCH is answered by FETCHED (Delivery.swift); the client asks on from where that
// scanned to. ADMIN has do str and the arguments; REPLY has ok bool, or is REFUSE with code and text.
//
//   FETCH   start as in OPEN, to offset (0: to the head), filters, events, bytes
internal import Primitives

extension NameFilter {
  static func value(_ filters: [NameFilter]) -> ControlValue {
    .list(filters.map { .list([.text($0.kind.rawValue), .bytes($0.text)]) })
  }

  static func list(_ map: ControlMap, verb: Verb) throws(ProtocolError) -> [NameFilter] {
    let items = map.list("filters")
    guard items.count <= 1000 else {
      throw .body(verb, reason: "\(items.count) filters; at most 1000 are allowed")
    }
    var filters: [NameFilter] = []
    for item in items {
      guard case .list(let parts) = item, parts.count == 2, case .text(let word) = parts[0],
        let kind = Kind(rawValue: word)
      else { throw .body(verb, reason: "a filter is [exact | prefix | glob, text]") }
      let text: [UInt8]
      switch parts[1] {
      case .bytes(let bytes): text = bytes
      case .text(let string): text = Array(string.utf8)
      default: throw .body(verb, reason: "a filter's text is text")
      }
      // A longer exact name or prefix can match nothing; a glob may need room for its escapes.
      guard text.count <= (kind == .glob ? 400 : 200) else {
        throw .body(verb, reason: "a filter of \(text.count) bytes matches no event name")
      }
      filters.append(NameFilter(kind, text))
    }
    return filters
  }
}

public struct FetchMessage: Hashable, Sendable {
  public var request: UInt64
  public var start: StartPosition
  /// Events at this offset and after are not wanted; 0: up to the head.
  public var to: UInt64
  public var filters: [NameFilter]
  public var maximumEvents: UInt64
  public var maximumBytes: UInt64

  public init(
    request: UInt64, start: StartPosition, to: UInt64 = 0, filters: [NameFilter] = [],
    maximumEvents: UInt64 = 100_000, maximumBytes: UInt64 = 512 << 10
  ) {
    self.request = request
    self.start = start
    self.to = to
    self.filters = filters
    self.maximumEvents = maximumEvents
    self.maximumBytes = maximumBytes
  }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    let map = try ControlMap(body: message, of: .fetch)
    request = try MessageHeader(decoding: message).token
    start = try StartPosition(map, key: "start")
    to = map.number("to")
    filters = try NameFilter.list(map, verb: .fetch)
    maximumEvents = map.number("events", or: 100_000)
    maximumBytes = map.number("bytes", or: 512 << 10)
  }

  public func encode() -> [UInt8] {
    var map = ControlMap()
    start.add(to: &map, key: "start")
    map["to"] = .number(to)
    map["filters"] = NameFilter.value(filters)
    map["events"] = .number(maximumEvents)
    map["bytes"] = .number(maximumBytes)
    return map.message(MessageHeader(.fetch, token: request))
  }
}

/// A request to look at or change the broker; the answer is a REPLY with the same request number.
public struct AdminMessage: Hashable, Sendable {
  public enum Action: String, Sendable, CaseIterable {
    case status, consumers, show, seek, pause, resume, delete
  }

  public var request: UInt64
  public var action: Action
  /// `name` (show, seek, pause, resume, delete) and for seek the keys of a start position.
  public var arguments: ControlMap

  public init(request: UInt64, action: Action, arguments: ControlMap = ControlMap()) {
    self.request = request
    self.action = action
    self.arguments = arguments
  }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    arguments = try ControlMap(body: message, of: .admin)
    request = try MessageHeader(decoding: message).token
    let word = arguments.text("do")
    guard let action = Action(rawValue: word) else {
      throw .body(.admin, reason: "unknown request '\(word.prefix(40))'")
    }
    self.action = action
  }

  public func encode() -> [UInt8] {
    var map = arguments
    map["do"] = .text(action.rawValue)
    return map.message(MessageHeader(.admin, token: request))
  }

  /// The start position of a seek.
  public func seekTarget() throws(ProtocolError) -> StartPosition {
    try StartPosition(arguments, key: "start")
  }

  public mutating func setSeekTarget(_ target: StartPosition) {
    target.add(to: &arguments, key: "start")
  }
}

public struct ReplyMessage: Hashable, Sendable {
  public var request: UInt64
  public var result: ControlMap

  public init(request: UInt64, result: ControlMap) {
    self.request = request
    self.result = result
  }

  public init(decoding message: RawSpan) throws(ProtocolError) {
    result = try ControlMap(body: message, of: .reply)
    request = try MessageHeader(decoding: message).token
  }

  public func encode() -> [UInt8] { result.message(MessageHeader(.reply, token: request)) }
}
