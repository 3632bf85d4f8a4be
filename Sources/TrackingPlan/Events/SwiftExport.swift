internal import EventModel

/// Writes a plan's event types as Swift: one struct each, in an extension of `EventType`, which can be
/// published and read back. Compiles with nothing but this package.
public struct SwiftExport: Sendable {
  /// The module that gives `EventType`: `Analytics` in an app, `EventBus` in a program on the bus.
  public var module: String
  private var lines: [String] = []

  /// - Parameter module: what the file imports.
  public init(module: String = "Analytics") { self.module = module }

  /// The source file. Names that would collide get a number behind.
  public func source(_ plan: PlanDocument) -> String {
    var writer = self
    writer.lines = [
      "// Made from version \(plan.version) of the tracking plan by `eventbus plan export`.",
      "public import \(module)",
      "",
      "extension EventType {",
    ]
    var taken: Set<String> = ["Type", "Protocol", "Self"]
    for (number, event) in plan.events.enumerated() {
      if number > 0 { writer.lines.append("") }
      writer.add(event, SwiftName.type(event.name.rawValue, &taken))
    }
    writer.lines.append("}")
    return writer.lines.joined(separator: "\n") + "\n"
  }

  /// One property as it stands in Swift.
  private struct Field {
    var name: String
    var type: String
    var definition: PropertyDefinition

    var isOptional: Bool { !definition.isRequired }
    var typeText: String { type + (isOptional ? "?" : "") }
    var key: String { SwiftName.literal(definition.name) }
  }

  private mutating func add(_ event: EventDefinition, _ type: String) {
    comment(event.text, "  ")
    lines.append("  public struct \(type): PublishableEvent, SubscribableEvent, Hashable {")
    lines.append(
      "    public static let eventType: EventType = \(SwiftName.literal(event.name.rawValue))")
    // Members of the protocols, and what would hide the types and names that the code uses.
    var taken: Set<String> = ["eventType", "eventProperties", "properties", "writer"]
    var types: Set<String> = [
      "String", "Int", "Double", "Bool", "Timestamp", "PropertyValue", "PropertyReader",
      "PropertyWriter", "PropertyObject", "EventType", "EventDecodingError", "EventEncodingError",
      "Hashable", "Sendable", "CaseIterable", "PublishableEvent", "SubscribableEvent", "Type",
      "Protocol", "Self",
    ]
    let fields = event.properties.map { field($0, &taken, &types) }
    if fields.isEmpty {
      lines += [
        "", "    public init() {}", "", "    public init(properties: PropertyReader) {}", "  }",
      ]
      return
    }
    for field in fields { addValues(field) }
    lines.append("")
    for field in fields {
      comment(field.definition.text, "    ")
      lines.append("    public var \(field.name): \(field.typeText)")
    }
    addInit(fields)
    addCoding(fields)
    lines.append("  }")
  }

  private func field(
    _ property: PropertyDefinition, _ taken: inout Set<String>, _ types: inout Set<String>
  ) -> Field {
    let name = SwiftName.member(property.name, &taken)
    let type: String
    switch property.types {
    case .string where property.values != nil: type = SwiftName.type(property.name, &types)
    case .string: type = "String"
    case .date: type = "Timestamp"
    case .integer: type = "Int"
    case .number, .fraction: type = "Double"
    case .boolean: type = "Bool"
    default: type = "PropertyValue"
    }
    return Field(name: name, type: type, definition: property)
  }

  private mutating func addValues(_ field: Field) {
    guard let values = field.definition.values, field.definition.types == .string else { return }
    lines += ["", "    public enum \(field.type): String, Sendable, Hashable, CaseIterable {"]
    var taken: Set<String> = ["allCases", "rawValue", "hashValue", "none"]
    for value in values {
      lines.append("      case \(SwiftName.member(value, &taken)) = \(SwiftName.literal(value))")
    }
    lines.append("    }")
  }

  private mutating func addInit(_ fields: [Field]) {
    let parameters = fields.map {
      "\(SwiftName.label($0.name)): \($0.typeText)\($0.isOptional ? " = nil" : "")"
    }
    let line = "    public init(\(parameters.joined(separator: ", "))) {"
    lines.append("")
    if line.utf8.count <= 100 {
      lines.append(line)
    } else {
      lines.append("    public init(")
      lines.append("      " + parameters.joined(separator: ",\n      "))
      lines.append("    ) {")
    }
    for field in fields { lines.append("      self.\(field.name) = \(field.name)") }
    lines.append("    }")
  }

  private mutating func addCoding(_ fields: [Field]) {
    lines += ["", "    public init(properties: PropertyReader) throws(EventDecodingError) {"]
    for field in fields {
      let read =
        field.type == "PropertyValue"
        ? "properties.value(\(field.key))\(field.isOptional ? "" : " ?? .null")"
        : "properties.\(field.isOptional ? "readIfPresent" : "read")(\(field.key))"
      lines.append("      self.\(field.name) = try \(read)")
    }
    lines += [
      "    }", "", "    public func encodeProperties(",
      "      into writer: inout PropertyWriter", "    ) throws(EventEncodingError) {",
    ]
    for field in fields {
      let write = "writer.write(\(field.key), \(field.name))"
      lines.append(field.isOptional ? "      if let \(field.name) { \(write) }" : "      \(write)")
    }
    lines.append("    }")
  }

  private mutating func comment(_ text: String, _ indent: String) {
    for line in text.split(whereSeparator: \.isNewline) { lines.append("\(indent)/// \(line)") }
  }
}
