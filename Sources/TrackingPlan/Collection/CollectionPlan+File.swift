// The part "collection" of a plan:
//
//   {
//     "events": [
//       {"event": "Order Placed",
//        "paths": ["#buttonClick:#UIButton#...#CheckoutViewController#...",
//                  "#buttonClick:#PayButton#...#CartViewController#...#currentTitle=Pay*"],
//        "properties": {"total":   "viewController.cart.total",     a key path, read in the app
//                       "url":     {"state": "url"},                from the path
//                       "channel": {"value": "app"}}}               a constant
//     ],
//     "exclude": {"screens": ["Login*"], "paths": ["#*:#...#PinPad#..."]},
//     "mask": ["amount*", "iban"]
//   }
//
// A key path has 2 to 8 keys; the first is sender, view, cell, viewController, window, application or
// delegate. A path that names a text, as `currentTitle`, asks for it; no other text is ever reported.
internal import EventCodec
internal import EventModel

extension CollectionPlan {
  private static let keys = ["events", "exclude", "mask"]

  init(_ node: JSONNode, _ reader: PlanReader, for plan: PlanDocument) throws(PlanError) {
    self.init()
    let fields = try reader.object(node, "\"collection\"", keys: Self.keys)
    if let list = fields["events"] {
      for node in try reader.list(list, "\"events\"") {
        entries.append(try Self.entry(node, reader, plan))
      }
    }
    if let exclude = fields["exclude"] {
      let fields = try reader.object(exclude, "\"exclude\"", keys: ["screens", "paths"])
      if let node = fields["screens"] { excludedScreens = try reader.texts(node, "\"screens\"") }
      if let node = fields["paths"] { excludedPaths = try Self.patterns(node, reader) }
    }
    if let node = fields["mask"] { maskedNames = try reader.texts(node, "\"mask\"") }
    let count = entries.reduce(excludedPaths.count + excludedScreens.count + maskedNames.count) {
      $0 + $1.patterns.count
    }
    guard count <= PlanLimits.maximumPatterns else {
      throw reader.wrong(
        node.offset, "\(count) paths and names; \(PlanLimits.maximumPatterns) are allowed")
    }
  }

  private static func patterns(
    _ node: JSONNode, _ reader: PlanReader
  ) throws(PlanError) -> [EventPathPattern] {
    var patterns: [EventPathPattern] = []
    for node in try reader.list(node, "\"paths\"") {
      patterns.append(try reader.pattern(node, "a path"))
    }
    return patterns
  }

  private static func entry(
    _ node: JSONNode, _ reader: PlanReader, _ plan: PlanDocument
  ) throws(PlanError) -> Entry {
    let fields = try reader.object(
      node, "an entry of \"events\"", keys: ["event", "paths", "properties"])
    guard let nameNode = fields["event"] else {
      throw reader.wrong(node.offset, "\"event\" is missing: the event's name")
    }
    let name = try reader.text(nameNode, "\"event\"")
    let event = try reader.eventName(name, at: nameNode.offset)
    let definition = plan[event: name]
    if definition == nil, !plan.allowsOthers {
      throw reader.wrong(
        nameNode.offset,
        reader.unknown(name, "among the plan's events", plan.events.map(\.name.rawValue)))
    }
    guard let paths = fields["paths"] else {
      throw reader.wrong(node.offset, "\"paths\" is missing: a list of paths that mean the event")
    }
    var entry = Entry(event, patterns: try patterns(paths, reader))
    guard !entry.patterns.isEmpty else {
      throw reader.wrong(paths.offset, "\"paths\" is empty: nothing would mean \"\(name)\"")
    }
    if let node = fields["properties"] {
      for member in try reader.members(node, "\"properties\"") {
        entry.properties.append(try property(member, reader, definition))
      }
    }
    return entry
  }

  private static func property(
    _ member: JSONNode.Member, _ reader: PlanReader, _ definition: EventDefinition?
  ) throws(PlanError) -> Property {
    if let definition, !definition.allowsOthers, definition[property: member.key] == nil {
      throw reader.wrong(
        member.offset,
        reader.unknown(
          member.key, "among the properties of \"\(definition.name)\"",
          definition.properties.map(\.name)))
    }
    if case .text(let text) = member.value.value {
      return Property(member.key, .keyPath(try keyPath(text, at: member.value.offset, reader)))
    }
    let fields = try reader.object(
      member.value, "a property that is no key path", keys: ["state", "value"])
    switch (fields["state"], fields["value"]) {
    case (let node?, nil): return Property(member.key, .state(try reader.text(node, "\"state\"")))
    case (nil, let node?):
      return Property(member.key, .constant(try reader.constant(node, "\"value\"")))
    default:
      throw reader.wrong(
        member.offset, "a property is a key path, or has one of \"state\" and \"value\"")
    }
  }

  private static func keyPath(
    _ text: String, at offset: Int, _ reader: PlanReader
  ) throws(PlanError) -> [String] {
    let keys = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard 2...PlanLimits.maximumKeys ~= keys.count, keys.allSatisfy({ !$0.isEmpty }) else {
      throw reader.wrong(
        offset,
        "\"\(text)\" is no key path: 2 to \(PlanLimits.maximumKeys) names with points between, as "
          + "viewController.banner.url; a text of its own is {\"value\": \"\(text)\"}")
    }
    guard keyPathRoots.contains(keys[0]) else {
      throw reader.wrong(
        offset, reader.unknown(keys[0], "as the start of a key path", keyPathRoots))
    }
    return keys
  }
}
