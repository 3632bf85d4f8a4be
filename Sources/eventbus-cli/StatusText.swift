import BusProtocol
import Primitives
import ServiceRuntime

/// What `status` and `consumers` print for people. All texts may come from clients: tables escape them.
enum StatusText {
  static func text(_ status: ControlMap) -> String {
    var text = summary(status)
    text += section("Event names", names(status), more: more(status))
    text += section("Producers", producers(status))
    text += section("Subscribers", consumers(maps(status, "consumers")))
    text += section("Refused", refused(status))
    let handshakes = handshakes(status)
    if !handshakes.isEmpty { text += section("Handshakes that failed", handshakes) }
    return text + section("Ledger since the start", ledger(status))
  }

  private static func summary(_ status: ControlMap) -> String {
    let bytes = status.number("journalBytes")
    let trouble = status.text("trouble")
    let readers = status.number("readers")
    let named = status.number("subscribers") - min(status.number("subscribers"), readers)
    return "broker   eventbus \(TerminalText.escape(status.text("version")))"
      + ", durability \(TerminalText.escape(status.text("durability")))\n"
      + "events   \(trouble.isEmpty ? "taken" : "REFUSED: " + TerminalText.escape(trouble))\n"
      + "journal  offsets \(status.number("earliest")) ..< \(status.number("head")), durable to "
      + "\(status.number("durable")), epoch \(status.number("epoch"))\n"
      + "         \(bytes.counted("byte")) in \(status.number("segments").counted("segment"))\n"
      + "clients  \(status.list("producers").count.counted("producer")), "
      + named.counted("subscriber")
      + (readers > 0 ? " and \(readers.counted("reader")) without a name" : "") + " connected\n"
  }

  private static func names(_ status: ControlMap) -> Table {
    var table = Table([.init("event"), .init("events", .right), .init("last")])
    for name in maps(status, "names") {
      table.append([
        name.text("name"), "\(name.number("events"))",
        Timestamp(nanoseconds: Int64(clamping: name.number("lastTime"))).text,
      ])
    }
    return table
  }

  private static func more(_ status: ControlMap) -> String {
    let hidden = Int(clamping: status.number("nameCount")) - status.list("names").count
    return hidden > 0 ? "and \(hidden) more \(hidden == 1 ? "name" : "names")\n" : ""
  }

  private static func producers(_ status: ControlMap) -> Table {
    var table = Table([
      .init("producer"), .init("events", .right), .init("twice", .right),
      .init("bytes in flight", .right),
    ])
    for producer in maps(status, "producers") {
      table.append([
        producer.text("client"), "\(producer.number("events"))",
        "\(producer.number("duplicates"))", "\(producer.number("bytesInFlight"))",
      ])
    }
    return table
  }

  static func consumers(_ consumers: [ControlMap]) -> Table {
    var table = Table([
      .init("subscriber"), .init("cursor", .right), .init("lag", .right), .init("state"),
      .init("delivered", .right), .init("missed", .right), .init("events"),
    ])
    for consumer in consumers {
      table.append([
        consumer.text("name"), "\(consumer.number("cursor"))", "\(consumer.number("lag"))",
        state(consumer), "\(consumer.number("delivered"))", "\(consumer.number("missed"))",
        filters(consumer),
      ])
    }
    return table
  }

  private static func state(_ consumer: ControlMap) -> String {
    let connection = consumer.flag("connected") ? "connected" : "away"
    return consumer.flag("paused") ? connection + ", paused" : connection
  }

  private static func filters(_ consumer: ControlMap) -> String {
    let texts = consumer.list("filters").compactMap { filter -> String? in
      guard case .list(let parts) = filter, parts.count == 2, case .text(let text) = parts[1] else {
        return nil
      }
      return text
    }
    return texts.isEmpty ? "all" : texts.joined(separator: " | ")
  }

  private static func refused(_ status: ControlMap) -> Table {
    var table = Table([
      .init("port"), .init("reason"), .init("events, requests", .right), .init("last one"),
    ])
    for refusal in maps(status, "refused") {
      table.append([
        refusal.text("port"), refusal.text("reason"), "\(refusal.number("count"))",
        refusal.text("sample"),
      ])
    }
    return table
  }

  private static func handshakes(_ status: ControlMap) -> Table {
    var table = Table([.init("port"), .init("count", .right), .init("why")])
    for failed in maps(status, "handshakes") {
      let why =
        switch failed.text("reason") {
        case "keys": "keys on one side alone: --curve, --curve-key"
        case "server_key": "the client's --server-key is not this broker's"
        default: "no ZMTP was spoken"
        }
      table.append([failed.text("port"), "\(failed.number("count"))", why])
    }
    return table
  }

  private static func ledger(_ status: ControlMap) -> Table {
    var table = Table([.init("what"), .init("count", .right)])
    guard case .map(let ledger)? = status["ledger"] else { return table }
    for (key, value) in ledger.fields {
      if case .number(let count) = value { table.append([key, "\(count)"]) }
    }
    return table
  }

  private static func section(_ title: String, _ table: Table, more: String = "") -> String {
    table.isEmpty ? "\n\(title): none\n" : "\n\(title)\n\(table.text)\(more)"
  }

  static func maps(_ map: ControlMap, _ key: String) -> [ControlMap] {
    map.list(key).compactMap { if case .map(let entry) = $0 { entry } else { nil } }
  }
}
