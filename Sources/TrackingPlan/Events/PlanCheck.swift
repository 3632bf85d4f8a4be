public import EventModel
internal import Primitives

/// Holds events against a plan.
public struct PlanCheck: Sendable {
  /// One way in which events differ from the plan.
  public struct Problem: Hashable, Sendable, CustomStringConvertible {
    /// What differs.
    public enum Kind: Hashable, Sendable {
      /// The plan has no such event; the nearest that it has.
      case unplannedEvent(nearest: String?)
      /// The event has no such property; the nearest that it has.
      case unplannedProperty(nearest: String?)
      case missing
      case wrongType(PlanTypes, wanted: PlanTypes)
      /// Not among the planned values.
      case wrongValue
    }

    /// The event as it came.
    public var event: EventType
    /// Empty for the event as a whole.
    public var property: String
    /// What differs.
    public var kind: Kind

    /// What is wrong, without the place.
    public var text: String {
      switch kind {
      case .unplannedEvent(let nearest): "not in the plan\(Self.meant(nearest))"
      case .unplannedProperty(let nearest): "no such property in the plan\(Self.meant(nearest))"
      case .missing: "required, and missing"
      case .wrongType(let found, let wanted): "\(found), where \(wanted) is planned"
      case .wrongValue: "none of the planned values"
      }
    }

    /// The place and what is wrong.
    public var description: String {
      property.isEmpty ? "\"\(event)\": \(text)" : "\"\(event)\", \"\(property)\": \(text)"
    }

    private static func meant(_ nearest: String?) -> String {
      nearest.map { "; did you mean \"\($0)\"?" } ?? ""
    }
  }

  /// How often a problem was met, and where first.
  public struct Finding: Hashable, Sendable {
    /// What was met.
    public var problem: Problem
    /// How many events have it.
    public var count: Int
    /// The line or offset of the first event that has it.
    public var first: UInt64
  }

  /// Different problems that are told apart; of others the events are only counted.
  public static let maximumFindings = 10_000

  private let plan: PlanDocument
  private let definitions: [EventType: Int]
  private var numbers: [Problem: Int] = [:]
  /// In the order in which they were met.
  public private(set) var findings: [Finding] = []
  /// Events that were looked at.
  public private(set) var checked = 0
  /// Events with at least one problem.
  public private(set) var wrong = 0

  /// Makes the plan ready; costs a look-up table of its events.
  public init(_ plan: PlanDocument) {
    self.plan = plan
    definitions = Dictionary(
      plan.events.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Checks one event.
  ///
  /// - Parameter place: its line or offset.
  public mutating func take(_ name: EventType, _ properties: PropertyObject?, at place: UInt64) {
    checked += 1
    let problems = problems(name, properties)
    guard !problems.isEmpty else { return }
    wrong += 1
    for problem in problems {
      if let number = numbers[problem] {
        findings[number].count += 1
      } else if findings.count < Self.maximumFindings {
        numbers[problem] = findings.count
        findings.append(Finding(problem: problem, count: 1, first: place))
      }
    }
  }

  /// What is wrong with one event.
  public func problems(_ name: EventType, _ properties: PropertyObject?) -> [Problem] {
    guard let number = definitions[name] else {
      guard !plan.allowsOthers else { return [] }
      let nearest = EditDistance.nearest(to: name.rawValue, in: plan.events.map(\.name.rawValue))
      return [Problem(event: name, property: "", kind: .unplannedEvent(nearest: nearest))]
    }
    let definition = plan.events[number]
    var problems: [Problem] = []
    for property in definition.properties {
      if let kind = Self.problem(properties?[property.name], property) {
        problems.append(Problem(event: name, property: property.name, kind: kind))
      }
    }
    guard !definition.allowsOthers else { return problems }
    for member in properties?.members ?? []
    where member.key != RawPaths.property && definition[property: member.key] == nil {
      let nearest = EditDistance.nearest(to: member.key, in: definition.properties.map(\.name))
      problems.append(
        Problem(event: name, property: member.key, kind: .unplannedProperty(nearest: nearest)))
    }
    return problems
  }

  private static func problem(
    _ value: PropertyValue?, _ property: PropertyDefinition
  ) -> Problem.Kind? {
    guard let value else { return property.isRequired ? .missing : nil }
    let found = PlanTypes(value)
    guard found.isSubset(of: property.types) else {
      return .wrongType(found, wanted: property.types)
    }
    guard let values = property.values, case .string(let text) = value,
      !values.contains(where: { $0.utf8.elementsEqual(text.utf8) })
    else { return nil }
    return .wrongValue
  }
}
