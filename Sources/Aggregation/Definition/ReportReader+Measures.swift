internal import EventCodec
internal import Primitives

extension ReportReader {
  private static let words = [
    "count", "unique", "people", "sum", "min", "max", "mean", "quantiles", "top", "histogram",
  ]
  private static let companions: [String: [String]] = [
    "unique": ["exact"], "quantiles": ["at"], "top": ["limit"], "histogram": ["bounds", "buckets"],
  ]

  func measures(_ node: JSONNode) throws(ReportFileError) -> [ReportDefinition.Measure] {
    let measures = try list(node).map { node throws(ReportFileError) in try measure(node) }
    guard 1...32 ~= measures.count else { throw wrong(node.offset, "1 to 32 measures are allowed") }
    try refuseTwins(
      zip(measures.map(\.label), try list(node)),
      because: "answers could not tell the two apart; a report of its own can have the other")
    return measures
  }

  private func measure(_ node: JSONNode) throws(ReportFileError) -> ReportDefinition.Measure {
    if case .text(let word) = node.value {
      switch word {
      case "count": return .count
      case "unique": return .unique(.user, exactly: DistinctSet.usualExact)
      case "people": return .people
      case _ where Self.words.contains(word):
        throw wrong(node.offset, "\(word) of what? Write {\"\(word)\": \"properties.NAME\"}")
      default: throw wrong(node.offset, unknown(word, "measure", Self.words))
      }
    }
    guard case .object(let members) = node.value else {
      throw wrong(node.offset, "a measure is a word or an object, not \(node.kind)")
    }
    let all = Self.words + Self.companions.values.joined()
    for member in members where !all.contains(member.key) {
      throw wrong(member.offset, unknown(member.key, "measure", Self.words))
    }
    let named = members.filter { Self.words.contains($0.key) }
    guard named.count == 1, let member = named.first else {
      let words = Self.words.joined(separator: ", ")
      throw wrong(node.offset, "a measure's object has one of \(words)")
    }
    let fields = try object(
      node, "\"\(member.key)\"", keys: [member.key] + (Self.companions[member.key] ?? []))
    return try measure(member.key, of: member.value, fields, node)
  }

  private func measure(
    _ word: String, of value: JSONNode, _ fields: [String: JSONNode], _ node: JSONNode
  ) throws(ReportFileError) -> ReportDefinition.Measure {
    if let output = ReportDefinition.NumberOutput(rawValue: word) {
      return .number(try path(value), output)
    }
    switch word {
    case "unique":
      if case .text("people") = value.value { return .people }
      let most = DistinctSet.usualExact
      return .unique(
        try path(value), exactly: try whole(fields["exact"], 0...most) ?? most)
    case "quantiles":
      let parts = try fields["at"].map(parts) ?? [0.5, 0.9, 0.99]
      return .quantiles(try path(value), at: parts)
    case "top":
      return .top(
        try path(value), limit: try whole(fields["limit"], 1...10_000) ?? 100)
    case "histogram":
      guard let rule = try rule(fields) else {
        throw wrong(node.offset, "a histogram has one of \"bounds\" and \"buckets\"")
      }
      return .histogram(try path(value), rule)
    default: throw wrong(value.offset, "\"\(word)\" takes no property: write \"\(word)\" alone")
    }
  }

  func dimensions(_ node: JSONNode) throws(ReportFileError) -> [ReportDefinition.Dimension] {
    let dimensions = try list(node).map { node throws(ReportFileError) in try dimension(node) }
    guard dimensions.count <= 8 else { throw wrong(node.offset, "at most 8 breakdowns together") }
    let texts = dimensions.map { $0.name + ($0.buckets.map { " by \($0.labels)" } ?? "") }
    try refuseTwins(zip(texts, try list(node)), because: "once tells all")
    return dimensions
  }

  /// - Throws: at the second of two that have the same name, byte for byte.
  private func refuseTwins(
    _ named: Zip2Sequence<[String], [JSONNode]>, because reason: String
  ) throws(ReportFileError) {
    var known: Set<[UInt8]> = []
    for (name, node) in named where !known.insert(Array(name.utf8)).inserted {
      throw wrong(node.offset, "\"\(name)\" stands here twice: \(reason)")
    }
  }

  private func dimension(_ node: JSONNode) throws(ReportFileError) -> ReportDefinition.Dimension {
    if case .text(let name) = node.value {
      return ReportDefinition.Dimension(path: try path(node), buckets: nil, name: name)
    }
    let fields = try object(node, "a breakdown", keys: ["of", "bounds", "buckets"])
    guard let of = fields["of"] else {
      throw wrong(node.offset, "\"of\" is missing: the property to break down by")
    }
    return ReportDefinition.Dimension(
      path: try path(of), buckets: try rule(fields), name: try text(of))
  }

  private func rule(_ fields: [String: JSONNode]) throws(ReportFileError) -> BucketRule? {
    switch (fields["bounds"], fields["buckets"]) {
    case (nil, nil): return nil
    case (let node?, nil):
      let bounds = try numbers(node)
      guard 1...BucketRule.maximumBounds ~= bounds.count,
        zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 })
      else {
        throw wrong(node.offset, "bounds are 1 to \(BucketRule.maximumBounds) rising numbers")
      }
      return .bounds(bounds)
    case (nil, let node?):
      let word = try text(node)
      guard word == "MoveCountCategory" else {
        throw wrong(node.offset, unknown(word, "rule", ["MoveCountCategory"]))
      }
      return .moveCountCategory
    case (.some, let node?):
      throw wrong(node.offset, "\"bounds\" and \"buckets\" contradict each other")
    }
  }

  private func parts(_ node: JSONNode) throws(ReportFileError) -> [Double] {
    let parts = try numbers(node)
    guard 1...101 ~= parts.count, parts.allSatisfy({ 0...1 ~= $0 }) else {
      throw wrong(node.offset, "\"at\" is 1 to 101 numbers from 0 to 1")
    }
    try refuseTwins(
      zip(parts.map(MeasureAnswer.name), try list(node)), because: "once is enough")
    return parts
  }

  private func path(_ node: JSONNode) throws(ReportFileError) -> FieldPath {
    let word = try text(node)
    guard let path = FieldPath(word) else {
      throw wrong(node.offset, "\"\(word)\" is no path such as properties.plan")
    }
    // The most frequent slip: the name of a property alone.
    if case .keys(let keys) = path, keys.count == 1, !Self.fields.contains(word) {
      let nearest = EditDistance.nearest(to: word, in: Self.fields + ["user"])
      let hint = nearest.map { " or \"\($0)\"" } ?? ""
      throw wrong(node.offset, "no field \"\(word)\": did you mean \"properties.\(word)\"\(hint)?")
    }
    return path
  }

  private static let fields = [
    "type", "event", "messageId", "userId", "anonymousId", "timestamp", "originalTimestamp",
    "timestampFlag", "sentAt", "receivedAt", "name", "category", "groupId", "previousId",
  ]
}

// Values by their type.
extension ReportReader {
  func unknown(_ word: String, _ what: String, _ known: [String]) -> String {
    let nearest = EditDistance.nearest(to: word, in: known).map { "did you mean \"\($0)\"?" }
    return "no \(what) \"\(word)\": " + (nearest ?? "one of \(known.joined(separator: ", "))")
  }

  func object(
    _ node: JSONNode, _ what: String, keys: [String]
  ) throws(ReportFileError) -> [String: JSONNode] {
    guard case .object(let members) = node.value else {
      throw wrong(node.offset, "\(what) must be an object, not \(node.kind)")
    }
    var fields: [String: JSONNode] = [:]
    for member in members {
      guard keys.contains(member.key) else {
        throw wrong(member.offset, "\(what) has " + unknown(member.key, "key", keys))
      }
      fields[member.key] = member.value
    }
    return fields
  }

  func list(_ node: JSONNode) throws(ReportFileError) -> [JSONNode] {
    guard case .list(let nodes) = node.value else {
      throw wrong(node.offset, "a list is wanted, not \(node.kind)")
    }
    return nodes
  }

  func text(_ node: JSONNode) throws(ReportFileError) -> String {
    guard case .text(let text) = node.value else {
      throw wrong(node.offset, "a text is wanted, not \(node.kind)")
    }
    return text
  }

  func texts(_ node: JSONNode) throws(ReportFileError) -> [String] {
    try list(node).map { node throws(ReportFileError) in try text(node) }
  }

  func boolean(_ node: JSONNode) throws(ReportFileError) -> Bool {
    guard case .boolean(let value) = node.value else {
      throw wrong(node.offset, "true or false is wanted, not \(node.kind)")
    }
    return value
  }

  func numbers(_ node: JSONNode) throws(ReportFileError) -> [Double] {
    try list(node).map { node throws(ReportFileError) in
      guard case .number(let value) = node.value else {
        throw wrong(node.offset, "a number is wanted, not \(node.kind)")
      }
      return value
    }
  }

  func whole(_ node: JSONNode, _ range: ClosedRange<Int>) throws(ReportFileError) -> Int {
    guard case .number(let value) = node.value, let whole = Int(exactly: value),
      range.contains(whole)
    else {
      throw wrong(
        node.offset, "a whole number from \(range.lowerBound) to \(range.upperBound) is wanted")
    }
    return whole
  }

  func whole(_ node: JSONNode?, _ range: ClosedRange<Int>) throws(ReportFileError) -> Int? {
    guard let node else { return nil }
    return try whole(node, range) as Int
  }

  func seconds(_ node: JSONNode) throws(ReportFileError) -> Int64 {
    switch node.value {
    case .text(let text):
      if let seconds = FieldPath.seconds(text) { return seconds }
    case .number(let number):
      if let seconds = Int64(exactly: number), 0...7_884_000_000 ~= seconds { return seconds }
    default: break
    }
    throw wrong(
      node.offset, "a time such as 30s, 10m, 2h or 7d is wanted, 91250d (250 years) at most")
  }
}
