internal import BusProtocol
internal import EventJournal
internal import Primitives

/// FETCH and ADMIN: stateless requests of tools.
extension BrokerCore {
  mutating func fetch(_ message: RawSpan, from peer: Peer) throws(ProtocolError) {
    let fetch = try FetchMessage(decoding: message)
    if let text = denial(of: fetch.filters, by: sender) {
      return refuse(.denied, text, token: fetch.request, peer: peer)
    }
    let head = journal.durableHead
    let end = fetch.to == 0 ? head : min(fetch.to, head)
    var from: Position?
    var time: Int64 = 0
    if case .time(let wanted) = fetch.start {
      time = wanted
    } else {
      from = resolve(fetch.start, known: nil, timeOffset: nil).0
    }
    actions.append(
      .read(
        .fetch(
          ReadRequest.Fetch(
            request: fetch.request, peer: peer, filter: SubscriptionFilter(fetch.filters),
            from: from, time: time, end: end,
            limitBytes: min(Int(clamping: fetch.maximumBytes), DeliveryBuilder.messageBytes),
            limitEvents: Int(clamping: fetch.maximumEvents)))))
  }

  mutating func administer(
    _ message: RawSpan, from peer: Peer, at now: Int64
  ) throws(ProtocolError) {
    let admin = try AdminMessage(decoding: message)
    if let text = denial(of: admin) {
      return refuse(.denied, text, token: admin.request, peer: peer)
    }
    let name = admin.arguments.bytes("name")
    switch admin.action {
    case .status: reply(admin, status(at: now).map, peer)
    case .consumers: reply(admin, consumers(at: now), peer)
    case .show, .pause, .resume, .delete, .seek:
      guard let record = cursors[name] else {
        return refuse(
          .unknownSubscriber, "no subscriber is named '\(text(name))'", token: admin.request,
          peer: peer)
      }
      if admin.action == .show { return reply(admin, consumer(record, at: now), peer) }
      try change(admin, name, peer, at: now)
    }
  }

  private mutating func change(
    _ admin: AdminMessage, _ name: [UInt8], _ peer: Peer, at now: Int64
  ) throws(ProtocolError) {
    guard !cursorReplies.isFull else {
      return refuse(
        .overload, "\(cursorReplies.limit) changes of cursors wait for the disk",
        token: admin.request, peer: peer)
    }
    switch admin.action {
    case .pause, .resume:
      var record = cursors[name]!
      record.isPaused = admin.action == .pause
      cursors.put(record)
    case .delete:
      guard tokenOfSubscriber[name] == nil else {
        return refuse(
          .inUse, "'\(text(name))' is connected: stop it first", token: admin.request, peer: peer)
      }
      _ = cursors.delete(name)
    case .seek:
      let target = try admin.seekTarget()
      if case .time(let time) = target {
        return actions.append(.read(.seekTo(time: time, end: journal.durableHead, admin, peer)))
      }
      return seek(admin, to: resolve(target, known: cursors[name], timeOffset: nil).0, peer)
    default: break
    }
    cursorReplies.wait(.init(request: admin, name: name, peer: peer))
  }

  /// The change that they asked for is on the disk, or is not.
  mutating func answerWaiting(_ failure: String?) {
    for waiting in cursorReplies.end() {
      if let failure {
        refuse(
          .diskFull,
          "it is changed, but not on the disk yet, which is tried again: \(failure)",
          token: waiting.request.request, peer: waiting.peer)
      } else {
        var map = cursors[waiting.name].map { consumer($0, at: $0.lastSeen) } ?? ControlMap()
        if waiting.wasConnected { map["connected"] = .flag(true) }
        reply(waiting.request, map, waiting.peer)
      }
    }
  }

  /// Moves a subscriber's cursor. A connected one is told to open again, and finds it there.
  mutating func seek(_ admin: AdminMessage, to position: Position, _ peer: Peer) {
    let name = admin.arguments.bytes("name")
    guard var record = cursors[name] else {
      return refuse(
        .unknownSubscriber, "no subscriber is named '\(text(name))'", token: admin.request,
        peer: peer)
    }
    record.cursor = position
    record.seekGeneration += 1
    cursors.put(record)
    let session = tokenOfSubscriber[name].flatMap { token in
      subscriberSessions[token].map { (token: token, peer: $0.peer) }
    }
    if let session { resetSubscriber(session.token, session.peer) }
    cursorReplies.wait(
      .init(request: admin, name: name, peer: peer, wasConnected: session != nil))
  }

  private mutating func reply(_ admin: AdminMessage, _ result: ControlMap, _ peer: Peer) {
    actions.append(.send(peer, ReplyMessage(request: admin.request, result: result).encode()))
  }

  private func consumers(at now: Int64) -> ControlMap {
    var map = ControlMap()
    let known = cursors.records.values.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    map["consumers"] = .list(known.map { .map(consumer($0, at: now)) })
    return map
  }

  func consumer(_ record: CursorRecord, at now: Int64) -> ControlMap {
    let head = journal.durableHead
    var map = ControlMap()
    map["name"] = .text(text(record.name))
    map["cursor"] = .number(record.cursor.offset)
    map["epoch"] = .number(UInt64(record.cursor.epoch))
    map["lag"] = .number(head - min(head, record.cursor.offset))
    map["connected"] = .flag(tokenOfSubscriber[record.name] != nil)
    map["paused"] = .flag(record.isPaused)
    map["delivered"] = .number(record.delivered)
    map["missed"] = .number(record.missed)
    map["generation"] = .number(record.seekGeneration)
    map["idle"] = .double(Double(max(0, now - record.lastSeen)) / 1e9)
    map["filters"] = .list(
      record.filters.map { .list([.text($0.kind.rawValue), .text(text($0.text))]) })
    return map
  }
}
