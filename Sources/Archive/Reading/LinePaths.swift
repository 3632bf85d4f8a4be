internal import EventCodec

/// The paths that are wanted of each line, as a tree of keys. A key is kept as canonical JSON writes it,
/// quotes and escapes included, so that comparing bytes is enough.
///
/// A path leads from the event's root, as `["properties", "plan"]`; a number is an index where it meets a
/// list. Meant for a few dozen paths: the keys of one object are compared one after another.
struct LinePaths: Sendable {
  struct Node: Sendable {
    /// The key that leads here, as in a line: `"plan"`, with its quotes.
    var text: [UInt8] = []
    /// The key as an index of a list: the same texts that `PayloadReader` takes for one.
    var index: Int?
    /// The path whose value this is.
    var path: Int?
    var children: [Int] = []
    /// How many paths end here or below.
    var count = 0
  }

  private(set) var nodes: [Node] = [Node()]
  private(set) var paths: [[[UInt8]]] = []

  init() {}

  /// Fields of the envelope, numbered in this order.
  init(_ fields: [String]) {
    for field in fields { _ = add(field) }
  }

  /// The number of a path, given now if it is new.
  mutating func add(_ path: [[UInt8]]) -> Int {
    precondition(!path.isEmpty, "a path has at least one key")
    if let known = paths.firstIndex(of: path) { return known }
    let number = paths.count
    paths.append(path)
    var node = 0
    nodes[node].count += 1
    for key in path {
      node = child(of: node, key)
      nodes[node].count += 1
    }
    nodes[node].path = number
    return number
  }

  mutating func add(_ field: String) -> Int { add([Array(field.utf8)]) }

  private mutating func child(of node: Int, _ key: [UInt8]) -> Int {
    var child = Node()
    unsafe CanonicalJSON.text(key.span.bytes, &child.text)
    if let known = nodes[node].children.first(where: { nodes[$0].text == child.text }) {
      return known
    }
    child.index = Int(String(decoding: key, as: UTF8.self))
    nodes.append(child)
    nodes[node].children.append(nodes.count - 1)
    return nodes.count - 1
  }
}
