/// Which paths are meant, over the same text as a path's:
///
/// - `*` in a name or a value stands for any run of characters: `#*ViewController`;
/// - a responder `*` is any one responder, with an index or without; `UIView[*]` has any index;
///   a name without brackets means a responder without an index;
/// - a responder `...` stands for any run of responders, none included;
/// - state is a condition: `#state=1` asks for that value, what is not named may be anything.
///
/// `#buttonClick:#UIButton#...#Shop*ViewController#...#state=1`
public struct EventPathPattern: Hashable, Sendable {
  enum IndexRule: Hashable, Sendable {
    case none
    case exact(Int)
    case present
    case whatever
  }

  struct SegmentRule: Hashable, Sendable {
    var name: EventPattern
    var index: IndexRule

    func matches(_ segment: EventPath.Segment, utf8: [UInt8]) -> Bool {
      switch index {
      case .none: if segment.index != nil { return false }
      case .exact(let number): if segment.index != number { return false }
      case .present: if segment.index == nil { return false }
      case .whatever: break
      }
      return name.matches(utf8)
    }
  }

  enum Step: Hashable, Sendable {
    case segment(SegmentRule)
    case run
  }

  struct Condition: Hashable, Sendable {
    var name: String
    var value: EventPattern
  }

  /// As it was written.
  public let text: String
  let action: EventPattern
  let steps: [Step]
  let conditions: [Condition]

  /// - Throws: what is wrong and at which byte.
  public init(parsing text: String) throws(EventPathError) {
    let parts = try PathTextParts(text)
    guard !parts.segments.isEmpty else {
      throw EventPathError(.noSegment, at: text.utf8.count)
    }
    self.text = text
    action = parts.action.pattern
    var steps: [Step] = []
    for part in parts.segments {
      if part.isRun {
        // Two runs in a row say no more than one.
        if steps.last != .run { steps.append(.run) }
      } else {
        steps.append(.segment(Self.rule(part)))
      }
    }
    self.steps = steps
    var conditions: [Condition] = []
    for item in parts.state {
      conditions.append(Condition(name: try item.name.literal(), value: item.value.pattern))
    }
    self.conditions = conditions
  }

  /// The pattern of just this path, with any state when `ignoringState`.
  public init(exactly path: EventPath, ignoringState: Bool = false) {
    text = (ignoringState ? path.replacingState([]) : path).text
    action = EventPattern(exact: Array(path.action.utf8))
    steps = path.segments.map { segment in
      .segment(
        SegmentRule(
          name: EventPattern(exact: Array(segment.name.utf8)),
          index: segment.index.map(IndexRule.exact) ?? .none))
    }
    conditions =
      ignoringState
      ? []
      : path.state.map {
        Condition(name: $0.name, value: EventPattern(exact: Array($0.value.utf8)))
      }
  }

  private static func rule(_ part: PathTextParts.SegmentPart) -> SegmentRule {
    let name = part.name.pattern
    switch part.index {
    case .any?: return SegmentRule(name: name, index: .present)
    case .number(let number)?: return SegmentRule(name: name, index: .exact(number))
    case nil:
      return SegmentRule(name: name, index: name == EventPattern("*") ? .whatever : .none)
    }
  }

  /// The names of the states that it looks at.
  public var stateNames: [String] { conditions.map(\.name) }

  /// Whether its conditions hold; one is met by any state of its name.
  func isMet(by state: [EventPath.State]) -> Bool {
    conditions.allSatisfy { condition in
      state.contains {
        $0.name.hasSameBytes(condition.name) && condition.value.matches(Array($0.value.utf8))
      }
    }
  }

  /// Whether it means this path. Takes steps × responders at most; for many patterns at once there is
  /// ``EventPathMatcher``.
  public func matches(_ path: EventPath) -> Bool {
    EventPathMatcher([self]).firstMatch(path) != nil
  }

  public static func == (a: EventPathPattern, b: EventPathPattern) -> Bool {
    a.text.hasSameBytes(b.text)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: text) }
}
