internal import EventModel

/// Which parts of which events are left out or hashed before anything is stored.
public struct PropertyRules: Sendable {
  enum Action: Hashable, Sendable {
    case drop
    case hash
  }

  /// A path from the envelope's root and what happens to the value there. `*` as a step stands for every
  /// member of an object and every element of a list.
  struct Step: Hashable, Sendable {
    var path: [[UInt8]]
    var action: Action
  }

  struct Rule: Sendable {
    var events: [EventPattern]
    var steps: [Step]

    func matches(_ name: [UInt8]) -> Bool {
      events.isEmpty || events.contains { $0.matches(name) }
    }
  }

  var rules: [Rule] = []
  /// What hashes are made with; not empty when a rule hashes.
  var hashKey: [UInt8] = []

  public init() {}

  public var isEmpty: Bool { rules.isEmpty }

  /// What happens to events of a name, by all rules that match it.
  func steps(for name: [UInt8]) -> [Step] {
    rules.filter { $0.matches(name) }.flatMap(\.steps)
  }
}

/// A rules file that cannot be used: where in it, and why.
public struct RulesError: Error, Hashable, Sendable, CustomStringConvertible {
  public var place: String
  public var reason: String
  public var description: String { place.isEmpty ? reason : "\(place): \(reason)" }
}
