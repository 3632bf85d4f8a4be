/// Finds the values at some paths of one line, in one pass and without decoding anything; it stops once
/// it has all of them.
///
/// Lines are canonical JSON, as the archive writes them, perhaps damaged: what is skipped is not checked,
/// and nothing traps. Of two members with one key the first counts, as `PayloadReader` has it. One
/// scanner belongs to one thread; it keeps its memory from line to line.
struct LineScanner: Sendable {
  /// One wanted key of an object.
  struct Branch: BitwiseCopyable {
    /// Where its text stands in `texts`.
    var start: Int
    var length: Int
    /// The first eight bytes of the text, and which of them count: tells most other keys apart at once.
    var word: UInt64
    var mask: UInt64
    /// The key as an index of a list; -1 where it is none.
    var index: Int
    var node: Int
  }

  struct Node: BitwiseCopyable {
    /// Its branches, in `branches`.
    var first: Int
    var end: Int
    /// The path whose value this is; -1 for none.
    var path: Int
    /// Paths that end here or below.
    var count: Int
  }

  private var nodes: [Node] = []
  private var branches: [Branch] = []
  private var texts: [UInt8] = []
  /// Where each path's value stands in the last line; empty where there is none.
  private(set) var found: [Range<Int>]
  /// By node, the line in which it was seen: a key counts once in each.
  private var seen: [UInt64]
  private var line: UInt64 = 0
  /// Paths of which it is not known yet where they are.
  private var open = 0

  init(_ paths: LinePaths) {
    found = [Range<Int>](repeating: 0..<0, count: paths.paths.count)
    seen = [UInt64](repeating: 0, count: paths.nodes.count)
    for node in paths.nodes {
      let first = branches.count
      for child in node.children { add(paths.nodes[child], at: child) }
      nodes.append(
        Node(first: first, end: branches.count, path: node.path ?? -1, count: node.count))
    }
  }

  private mutating func add(_ child: LinePaths.Node, at node: Int) {
    var word: UInt64 = 0
    var mask: UInt64 = 0
    for (index, byte) in child.text.prefix(8).enumerated() {
      word |= UInt64(byte) << (8 * index)
      mask |= 0xFF << (8 * index)
    }
    branches.append(
      Branch(
        start: texts.count, length: child.text.count, word: word, mask: mask,
        index: child.index ?? -1, node: node))
    texts += child.text
  }

  /// Looks for the paths in `bytes`: one line without its newline. False when it is no object; `found`
  /// then says nothing.
  mutating func scan(_ bytes: UnsafeRawBufferPointer) -> Bool {
    line &+= 1
    open = found.count
    for index in found.indices { found[index] = 0..<0 }
    var cursor = unsafe LineCursor(bytes)
    guard cursor.next == UInt8(ascii: "{") else { return false }
    return members(of: nodes[0], &cursor)
  }

  /// The members of the object that begins here. True, perhaps before its end, once no path is open.
  private mutating func members(of node: Node, _ cursor: inout LineCursor) -> Bool {
    cursor.at += 1
    if cursor.take(UInt8(ascii: "}")) { return true }
    var unseen = node.end - node.first
    while unseen > 0 {
      if let child = wantedMember(of: node, &cursor) {
        unseen -= 1
        guard value(of: child, &cursor) else { return false }
        if open == 0 { return true }
      } else {
        guard cursor.skipText(), cursor.take(UInt8(ascii: ":")), cursor.skipValue() else {
          return false
        }
      }
      if cursor.take(UInt8(ascii: ",")) { continue }
      return cursor.take(UInt8(ascii: "}"))
    }
    return cursor.skipToEnd(of: 1)
  }

  /// The node of the wanted member whose key stands here; goes to its value.
  @inline(__always)
  private mutating func wantedMember(of node: Node, _ cursor: inout LineCursor) -> Int? {
    for index in node.first..<node.end {
      let branch = branches[index]
      guard cursor.isAt(branch, texts), seen[branch.node] != line else { continue }
      seen[branch.node] = line
      cursor.at += branch.length + 1
      return branch.node
    }
    return nil
  }

  private mutating func value(of number: Int, _ cursor: inout LineCursor) -> Bool {
    let node = nodes[number]
    let start = cursor.at
    let before = open
    let isWhole: Bool
    switch cursor.next {
    case UInt8(ascii: "{") where node.first < node.end: isWhole = members(of: node, &cursor)
    case UInt8(ascii: "[") where node.first < node.end: isWhole = elements(of: node, &cursor)
    default: isWhole = cursor.skipValue()
    }
    guard isWhole else { return false }
    if node.path >= 0 { found[node.path] = start..<cursor.at }
    // What was not found below is nowhere: another member of the same key does not count.
    open = before - node.count
    return true
  }

  private mutating func elements(of node: Node, _ cursor: inout LineCursor) -> Bool {
    cursor.at += 1
    if cursor.take(UInt8(ascii: "]")) { return true }
    var index = 0
    while true {
      let start = cursor.at
      guard cursor.skipValue() else { return false }
      let end = cursor.at
      // Several: 0 and 00 are one place.
      for branch in node.first..<node.end where branches[branch].index == index {
        cursor.at = start
        guard value(of: branches[branch].node, &cursor) else { return false }
      }
      cursor.at = end
      index += 1
      if cursor.take(UInt8(ascii: ",")) { continue }
      return cursor.take(UInt8(ascii: "]"))
    }
  }
}
