/// Finds which of many patterns means a path, without looking at each.
///
/// The patterns' steps are a tree: patterns that begin alike share nodes, and a responder's name and
/// index find the next node by one look-up. All places in the tree at which the path can be are followed
/// together, so nothing is tried twice: a match costs at most responders × nodes, and for plans as
/// people write them two to six microseconds, whether there are ten patterns or ten thousand.
public struct EventPathMatcher: Sendable {
  /// A responder that has a name of its own, from a node on.
  private struct Edge: Hashable, Sendable {
    var node: Int32
    var name: Int32
    /// -1 without an index, -2 any index.
    var index: Int32
  }

  private struct GlobKey: Hashable, Sendable {
    var node: Int32
    var rule: EventPathPattern.SegmentRule
  }

  private struct Node: Sendable {
    /// Where `...` leads from here; -1 nowhere.
    var run: Int32 = -1
    /// Where the responder `*` leads.
    var any: Int32 = -1
    /// Responders with wildcards in the name, or `*` with a certain index.
    var globs: [(rule: EventPathPattern.SegmentRule, node: Int32)] = []
    /// Patterns that end here.
    var ends: [Int32] = []
  }

  private let patterns: [EventPathPattern]
  private var nodes: [Node] = []
  private var edges: [Edge: Int32] = [:]
  private var names: [[UInt8]: Int32] = [:]
  private var exactActions: [[UInt8]: Int32] = [:]
  private var globActions: [(action: EventPattern, node: Int32)] = []
  /// Only while the tree is made: finds known nodes again.
  private var globNodes: [GlobKey: Int32] = [:]
  private var globRoots: [EventPattern: Int32] = [:]
  /// For each node that a `...` leads to, which of them it is; else -1.
  private var runNumbers: [Int32] = []
  private var runCount = 0

  /// - Parameter patterns: the first that means a path wins.
  public init(_ patterns: [EventPathPattern]) {
    self.patterns = patterns
    for (number, pattern) in patterns.enumerated() {
      var node = root(pattern.action)
      for step in pattern.steps { node = child(of: node, step) }
      nodes[Int(node)].ends.append(Int32(number))
    }
    globNodes = [:]
    globRoots = [:]
  }

  /// How many patterns it has.
  public var count: Int { patterns.count }

  /// The first pattern that means the path.
  public func firstMatch(_ path: EventPath) -> Int? {
    guard !patterns.isEmpty else { return nil }
    var walk = Walk(runCount: runCount)
    let action = Array(path.action.utf8)
    if let root = exactActions[action] { enter(root, &walk) }
    for glob in globActions where glob.action.matches(action) { enter(glob.node, &walk) }
    for segment in path.segments {
      guard !walk.isLost else { return nil }
      let utf8 = Array(segment.name.utf8)
      let name = names[utf8]
      let places = walk.take()
      for node in places { step(from: node, segment, utf8, name, &walk) }
      // What a `...` has reached during this step takes the next responder first.
      let runs = walk.runs[..<walk.oldRuns]
      for node in runs { step(from: node, segment, utf8, name, &walk) }
    }
    return best(walk, path)
  }

  private func best(_ walk: Walk, _ path: EventPath) -> Int? {
    var best: Int32?
    for node in walk.places + walk.runs {
      for end in nodes[Int(node)].ends where end < best ?? .max {
        // Ends are in ascending order, so the first that holds is this node's best.
        guard patterns[Int(end)].isMet(by: path.state) else { continue }
        best = end
        break
      }
    }
    return best.map(Int.init)
  }

  /// Everything that one responder leads to from `node`.
  private func step(
    from node: Int32, _ segment: EventPath.Segment, _ utf8: [UInt8], _ name: Int32?,
    _ walk: inout Walk
  ) {
    if let name {
      let index = segment.index.map { Int32(truncatingIfNeeded: $0) } ?? -1
      if let next = edges[Edge(node: node, name: name, index: index)] { enter(next, &walk) }
      if index >= 0, let next = edges[Edge(node: node, name: name, index: -2)] {
        enter(next, &walk)
      }
    }
    let any = nodes[Int(node)].any
    if any >= 0 { enter(any, &walk) }
    for glob in nodes[Int(node)].globs where glob.rule.matches(segment, utf8: utf8) {
      enter(glob.node, &walk)
    }
  }

  /// Each node has one way in, so it is entered once a step; what `...` leads to stays once reached.
  private func enter(_ node: Int32, _ walk: inout Walk) {
    walk.places.append(node)
    let run = nodes[Int(node)].run
    if run >= 0 { walk.reach(run, number: runNumbers[Int(run)]) }
  }

  /// The places in the tree at which a path can be after the responders so far.
  private struct Walk {
    var places: [Int32] = []
    /// Those that `...` leads to: they take any responder and stay.
    var runs: [Int32] = []
    /// How many of them were there before the responder at hand.
    var oldRuns = 0
    private var isReached: [UInt64]

    init(runCount: Int) { isReached = [UInt64](repeating: 0, count: (runCount + 63) / 64) }

    var isLost: Bool { places.isEmpty && runs.isEmpty }

    mutating func take() -> [Int32] {
      var taken: [Int32] = []
      swap(&taken, &places)
      oldRuns = runs.count
      return taken
    }

    mutating func reach(_ node: Int32, number: Int32) {
      let (word, bit) = (Int(number) / 64, UInt64(1) << (UInt64(number) % 64))
      guard isReached[word] & bit == 0 else { return }
      isReached[word] |= bit
      runs.append(node)
    }
  }
}

// Making the tree.
extension EventPathMatcher {
  private mutating func newNode(isRun: Bool = false) -> Int32 {
    nodes.append(Node())
    runNumbers.append(isRun ? Int32(runCount) : -1)
    if isRun { runCount += 1 }
    return Int32(nodes.count - 1)
  }

  private mutating func root(_ action: EventPattern) -> Int32 {
    if let name = action.exactName {
      if let root = exactActions[name] { return root }
      let root = newNode()
      exactActions[name] = root
      return root
    }
    if let known = globRoots[action] { return known }
    let root = newNode()
    globRoots[action] = root
    globActions.append((action, root))
    return root
  }

  private mutating func child(of node: Int32, _ step: EventPathPattern.Step) -> Int32 {
    guard case .segment(let rule) = step else {
      if nodes[Int(node)].run >= 0 { return nodes[Int(node)].run }
      let next = newNode(isRun: true)
      nodes[Int(node)].run = next
      return next
    }
    if rule.index == .whatever, rule.name == EventPattern("*") {
      if nodes[Int(node)].any >= 0 { return nodes[Int(node)].any }
      let next = newNode()
      nodes[Int(node)].any = next
      return next
    }
    guard let name = rule.name.exactName else { return globChild(of: node, rule) }
    let index: Int32 =
      switch rule.index {
      case .exact(let number): Int32(truncatingIfNeeded: number)
      case .present: -2
      default: -1
      }
    let symbol = names[name] ?? Int32(names.count)
    names[name] = symbol
    let edge = Edge(node: node, name: symbol, index: index)
    if let next = edges[edge] { return next }
    let next = newNode()
    edges[edge] = next
    return next
  }

  private mutating func globChild(
    of node: Int32, _ rule: EventPathPattern.SegmentRule
  ) -> Int32 {
    let key = GlobKey(node: node, rule: rule)
    if let known = globNodes[key] { return known }
    let next = newNode()
    globNodes[key] = next
    nodes[Int(node)].globs.append((rule, next))
    return next
  }
}
