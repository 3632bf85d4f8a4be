internal import BusProtocol
internal import EventModel
internal import Primitives

/// What a key's holder may ask for. Without `access` everybody may ask for everything.
extension BrokerCore {
  /// How long who was denied should wait before asking again.
  static let deniedRetry = Duration.seconds(2)

  /// Why the sender may not publish at all.
  func denialOfHello(_ hello: HelloMessage) -> String? {
    guard access != nil else { return nil }
    guard let sender else { return unknownKey }
    guard sender.mayPublishSomething else { return lacks(sender, "--publish PATTERN") }
    guard !hello.mayForget || sender.mayAdministerSomething else {
      return lacks(sender, "--administer '*', which forgetting a person needs")
    }
    return nil
  }

  /// Why the sender may not read what these filters let through. No filter means everything, which a
  /// narrower right does not quietly turn into something less.
  func denial(of filters: [NameFilter], by holder: AccessHolder?) -> String? {
    guard access != nil else { return nil }
    guard let holder else { return unknownKey }
    let wanted = filters.isEmpty ? [EventPattern(prefix: [])] : filters.map(\.pattern)
    for (index, pattern) in wanted.enumerated() where !holder.maySubscribe(pattern) {
      let asked =
        filters.isEmpty ? "all events" : "'\(text(filters[index].text))' (\(filters[index].kind))"
      return "key '\(holder.name)' may not subscribe to \(asked)\(alternatives(holder)); "
        + lacks(holder, "--subscribe PATTERN")
    }
    return nil
  }

  private func alternatives(_ holder: AccessHolder) -> String {
    let patterns = holder.entry.rights.subscribe.prefix(5).map { "'\($0)'" }
    return patterns.isEmpty ? "" : " but to \(patterns.joined(separator: ", "))"
  }

  func denial(of admin: AdminMessage) -> String? {
    guard access != nil else { return nil }
    guard let sender else { return unknownKey }
    switch admin.action {
    case .status, .consumers:
      return sender.mayAdministerSomething ? nil : lacks(sender, "--administer '*'")
    case .show, .seek, .pause, .resume, .delete:
      let name = admin.arguments.bytes("name")
      return sender.mayAdminister(name) ? nil : lacks(sender, "--administer '\(text(name))'")
    }
  }

  /// Why an event of this name is refused from a producer.
  func denial(ofPublishing name: RawSpan, by holder: AccessHolder?) -> (RefusalCode, String)? {
    guard access != nil else { return nil }
    guard let holder else { return (.forbidden, unknownKey) }
    guard !holder.mayPublish(name) else { return nil }
    return (
      .forbidden, "'\(text(name.copied()))': \(lacks(holder, "--publish PATTERN that matches it"))"
    )
  }

  private var unknownKey: String {
    "this key is not authorised: `eventbus keys authorize` at the broker lets it in"
  }

  private func lacks(_ holder: AccessHolder, _ right: String) -> String {
    "key '\(holder.name)' lacks the right: `eventbus keys authorize` it with \(right)"
  }

  /// Takes new rights: sessions that lost theirs end, and are told why when they ask again.
  mutating func setAccess(_ table: AccessTable) {
    access = table
    for (token, session) in producerSessions {
      let holder = session.holder.flatMap { table.holder(of: $0.entry.key) }
      producerSessions[token]!.holder = holder
      if holder?.mayPublishSomething != true
        || (session.mayForget && holder?.mayAdministerSomething != true)
      {
        endProducer(token)
        reset(token, session.peer)
      }
    }
    for (token, session) in subscriberSessions {
      let holder = session.holder.flatMap { table.holder(of: $0.entry.key) }
      subscriberSessions[token]!.holder = holder
      if denial(of: session.filter.filters, by: holder) != nil {
        resetSubscriber(token, session.peer)
      }
    }
  }
}

extension NameFilter {
  var pattern: EventPattern {
    switch kind {
    case .exact: EventPattern(exact: text)
    case .prefix: EventPattern(prefix: text)
    case .glob: EventPattern(glob: text)
    }
  }
}
