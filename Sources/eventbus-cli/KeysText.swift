import BusBroker
import ServiceRuntime

/// Keys as people and scripts see them.
enum KeysText {
  static func table(_ keys: [AccessKey]) -> String {
    guard !keys.isEmpty else { return "no key is authorised\n" }
    var table = Table([
      .init("name"), .init("key"), .init("publish"), .init("subscribe"), .init("administer"),
      .init("since"),
    ])
    for key in keys {
      table.append([
        key.name, "\(key.key)", key.rights.publish.joined(separator: ", "),
        key.rights.subscribe.joined(separator: ", "), key.rights.administer.joined(separator: ", "),
        key.since,
      ])
    }
    return table.text
  }

  static func json(_ key: AccessKey, extra: [JSONText.Member] = []) -> JSONText {
    func texts(_ list: [String]) -> JSONText { .list(list.map { .text($0) }) }
    return .object(
      [
        .init("name", .text(key.name)), .init("key", .text("\(key.key)")),
        .init("since", .text(key.since)), .init("publish", texts(key.rights.publish)),
        .init("subscribe", texts(key.rights.subscribe)),
        .init("administer", texts(key.rights.administer)),
      ] + extra)
  }
}
