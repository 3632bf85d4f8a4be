// A plan, JSON:
//
//   {
//     "version": 7,                          1 to 2^53; the higher one counts
//     "events": {                            the event types
//       "Order Placed": {
//         "description": "The buyer confirmed the order.",
//         "properties": {
//           "total":   {"type": "number", "required": true, "description": "in euros"},
//           "coupon":  {"type": ["string", "null"]},
//           "payment": {"type": "string", "values": ["card", "invoice"]}
//         },
//         "others": true                     further properties are in order; default false
//       }
//     },
//     "others": true,                        further events are in order; default false
//     "collection": { ... }                  CollectionPlan+File.swift
//   }
//
// Types: any, string, date (a text that is a time), number, integer, double, boolean, list, object,
// null. Unknown keys are refused, so that a slip of the pen is told where it is made.
internal import EventCodec
internal import EventModel

extension PlanDocument {
  private static let keys = ["version", "events", "others", "collection"]
  private static let eventKeys = ["description", "properties", "others"]
  private static let propertyKeys = ["type", "required", "values", "description"]

  /// Reads a plan.
  ///
  /// - Parameter path: the file, for messages.
  /// - Throws: the first thing that is wrong, with its line and, for a word, the nearest right one.
  public init(parsing bytes: [UInt8], path: String = "") throws(PlanError) {
    let reader = PlanReader(bytes: bytes, path: path)
    let root = try reader.root()
    let fields = try reader.object(root, "a plan", keys: Self.keys)
    guard let version = fields["version"] else {
      throw reader.wrong(root.offset, "\"version\" is missing: a number that grows with each plan")
    }
    self.init(version: try Self.version(version, reader))
    if let node = fields["events"] {
      let members = try reader.members(node, "\"events\"")
      guard members.count <= PlanLimits.maximumEvents else {
        throw reader.wrong(
          node.offset, "\(members.count) events; \(PlanLimits.maximumEvents) are allowed")
      }
      for member in members { events.append(try Self.event(member, reader)) }
    }
    allowsOthers =
      try fields["others"].map { node throws(PlanError) in try reader.boolean(node, "\"others\"") }
      ?? fields.keys.allSatisfy { $0 != "events" }
    if let node = fields["collection"] { collection = try CollectionPlan(node, reader, for: self) }
  }

  private static func version(_ node: JSONNode, _ reader: PlanReader) throws(PlanError) -> Int {
    guard case .number(let number) = node.value, let version = Int(exactly: number),
      1...(1 << 53) ~= version
    else { throw reader.wrong(node.offset, "\"version\" is a whole number from 1 on") }
    return version
  }

  private static func event(
    _ member: JSONNode.Member, _ reader: PlanReader
  ) throws(PlanError) -> EventDefinition {
    var event = EventDefinition(try reader.eventName(member.key, at: member.offset))
    let what = "\"\(member.key)\""
    let fields = try reader.object(member.value, what, keys: eventKeys)
    if let node = fields["description"] { event.text = try reader.text(node, "\"description\"") }
    if let node = fields["others"] { event.allowsOthers = try reader.boolean(node, "\"others\"") }
    guard let node = fields["properties"] else { return event }
    let members = try reader.members(node, "\"properties\"")
    guard members.count <= PlanLimits.maximumProperties else {
      throw reader.wrong(
        node.offset,
        "\(members.count) properties; \(PlanLimits.maximumProperties) are allowed")
    }
    for member in members { event.properties.append(try property(member, reader)) }
    return event
  }

  private static func property(
    _ member: JSONNode.Member, _ reader: PlanReader
  ) throws(PlanError) -> PropertyDefinition {
    let fields = try reader.object(member.value, "\"\(member.key)\"", keys: propertyKeys)
    var property = PropertyDefinition(member.key, .any)
    if let node = fields["type"] { property.types = try types(node, reader) }
    if let node = fields["description"] {
      property.text = try reader.text(node, "\"description\"")
    }
    if let node = fields["required"] {
      property.isRequired = try reader.boolean(node, "\"required\"")
    }
    if let node = fields["values"] {
      guard !property.types.isDisjoint(with: .string) else {
        throw reader.wrong(node.offset, "\"values\" are texts, and the type is \(property.types)")
      }
      let values = try reader.texts(node, "\"values\"")
      guard !values.isEmpty else { throw reader.wrong(node.offset, "\"values\" is empty") }
      property.values = values
    }
    return property
  }

  private static func types(_ node: JSONNode, _ reader: PlanReader) throws(PlanError) -> PlanTypes {
    var nodes = [node]
    if case .list(let list) = node.value { nodes = list }
    var types: PlanTypes = []
    for node in nodes {
      let word = try reader.text(node, "a type")
      guard let known = PlanTypes.words.first(where: { $0.0 == word }) else {
        throw reader.wrong(
          node.offset, reader.unknown(word, "as a type", PlanTypes.words.map(\.0)))
      }
      types.formUnion(known.1)
    }
    guard !types.isEmpty else { throw reader.wrong(node.offset, "a property has a type") }
    return types
  }
}
