// A window as it stands in the aggregator's tables:
//
//   version   u8   1
//   events    count of all events of the window
//   folded    count of groups that went into `other`
//   missing   what a group that is not here can have at most
//   other     u8 0 or 1, then a cell
//   groups    count, each: key text (values in MessagePack, one after another), cell
//
// Cells are laid out as Cell.swift says; which parts they have, the report's definition says.
internal import Primitives

/// All groups of one report in one window, at most twice the report's limit.
///
/// When one more comes, the groups with the most events are kept and the others folded into `other`, as
/// in `TopValues`.
struct WindowState: Sendable {
  static let version: UInt8 = 1
  /// Beyond this a window folds its smaller half, however few groups it has: 100 sets of 10,000 users
  /// take a quarter of it.
  static let maximumBytes = 32 << 20

  /// First second and the one after the last.
  let range: Range<Int64>
  let shape: CellShape
  private(set) var keys = ByteInterner()
  var cells: [Cell] = []
  private(set) var other: Cell?
  private(set) var folded: UInt64 = 0
  private(set) var missing: UInt64 = 0
  private(set) var events: UInt64 = 0
  /// The cell of each numbered group; -1 for none.
  private var cellOfNumber: [Int32] = []
  var isChanged = false

  init(_ range: Range<Int64>, _ shape: CellShape) {
    self.range = range
    self.shape = shape
  }

  /// The cell of a group, made now if it is new.
  @inline(__always)
  mutating func cell(_ key: RawSpan, limit: Int) -> Int {
    if let found = keys.find(key) { return found }
    if keys.count >= 2 * limit { fold(to: limit) }
    var cell = Cell(shape)
    cell.mayMiss = missing
    cells.append(cell)
    return keys.intern(key)
  }

  /// The cell of a numbered group, if it is known here: an array's lookup.
  @inline(__always)
  func cell(ofNumber number: Int32) -> Int? {
    let number = Int(number)
    guard cellOfNumber.indices.contains(number), cellOfNumber[number] >= 0 else { return nil }
    return Int(cellOfNumber[number])
  }

  /// The cell of an event's group, and from then on of its number.
  mutating func cell(_ group: EventBlock.Group, of block: EventBlock, limit: Int) -> Int {
    let key = unsafe block.keys.span.bytes.extracting(block.key(of: group))
    let cell = cell(key, limit: limit)
    let number = Int(group.number)
    guard number >= 0 else { return cell }
    if cellOfNumber.count <= number {
      cellOfNumber += Array(repeating: -1, count: number + 1 - cellOfNumber.count)
    }
    cellOfNumber[number] = Int32(cell)
    return cell
  }

  /// Groups have other numbers from here on.
  mutating func forgetNumbers() { cellOfNumber = [] }

  mutating func cell(_ key: [UInt8], limit: Int) -> Int {
    unsafe cell(key.span.bytes, limit: limit)
  }

  /// The cell that takes what has no group of its own, made when it is first changed.
  var otherCell: Cell {
    get { other ?? Cell(shape) }
    _modify {
      if other == nil { other = Cell(shape) }
      yield &other!
    }
  }

  /// Counts an event. The window is weighed at every 65,536th, however often it was stored and read back
  /// in between, so what is folded depends on the journal's order alone.
  @inline(__always)
  mutating func takeEvent(limit: Int) {
    isChanged = true
    events += 1
    if events & 0xFFFF == 0 { weigh(limit: limit) }
  }

  /// Counts events that follow users: they never weigh the window, which has one group.
  mutating func countEvents(_ count: Int) {
    isChanged = true
    events += UInt64(count)
  }

  private mutating func weigh(limit: Int) {
    guard stateBytes > Self.maximumBytes, cells.count > 1 else { return }
    fold(to: min(limit, cells.count / 2))
  }

  private mutating func fold(to limit: Int) {
    let order = cells.indices.sorted { a, b in
      cells[a].count != cells[b].count ? cells[a].count > cells[b].count : a < b
    }
    var kept = ByteInterner()
    var keptCells: [Cell] = []
    for index in order[..<limit].sorted() {
      _ = kept.intern(keys[index])
      keptCells.append(cells[index])
    }
    var merged = other ?? Cell(shape)
    for index in order[limit...].sorted() {
      missing = max(missing, cells[index].count + cells[index].mayMiss)
      folded += 1
      merged.merge(cells[index], shape)
      merged.mayMiss = 0
    }
    (keys, cells, other) = (kept, keptCells, merged)
    cellOfNumber = []
  }

  /// Whether it has no group, so nothing to show.
  var isEmpty: Bool { cells.isEmpty && other == nil }

  /// What it holds in memory, about.
  var byteCount: Int { 256 + cellOfNumber.count * 4 + stateBytes }

  /// The part of it that is a function of what was counted.
  private var stateBytes: Int {
    var bytes = keys.memoryBytes + (other?.byteCount ?? 0)
    for index in cells.indices { bytes += cells[index].byteCount }
    return bytes
  }

  /// Takes persons out of the sets that still know whom they hold.
  mutating func erase(_ persons: HashTable64, _ sets: [Int]) {
    for cell in cells.indices {
      for set in sets where cells[cell].sets[set].erase(persons) { isChanged = true }
    }
    guard other != nil else { return }
    for set in sets where otherCell.sets[set].erase(persons) { isChanged = true }
  }

  /// All groups together.
  var total: Cell {
    var total = Cell(shape)
    for index in cells.indices { total.merge(cells[index], shape) }
    if let other { total.merge(other, shape) }
    total.mayMiss = 0
    return total
  }
}

extension WindowState {
  /// How many events a stored window has counted, read without the rest.
  static func events(in bytes: [UInt8]) throws(StateError) -> UInt64 {
    var input = StateReader(bytes)
    guard try input.byte() == Self.version else { throw input.damaged }
    return try input.events()
  }

  func encoded() -> [UInt8] {
    var output = StateWriter()
    output.byte(Self.version)
    output.number(events)
    output.number(folded)
    output.number(missing)
    output.byte(other == nil ? 0 : 1)
    other?.encode(to: &output)
    output.number(cells.count)
    for (index, cell) in cells.enumerated() {
      output.text(keys[index])
      cell.encode(to: &output)
    }
    return output.bytes
  }

  init(
    _ range: Range<Int64>, _ shape: CellShape, from bytes: [UInt8]
  ) throws(StateError) {
    self.init(range, shape)
    var input = StateReader(bytes)
    guard try input.byte() == Self.version else { throw input.damaged }
    events = try input.events()
    folded = try input.events()
    missing = try input.events()
    if try input.byte() == 1 { other = try Cell(from: &input, shape) }
    let count = try input.count(of: 3)
    cells.reserveCapacity(count)
    for index in 0..<count {
      let range = try input.textRange()
      guard unsafe keys.intern(bytes.span.bytes.extracting(range)) == index else {
        throw input.damaged
      }
      cells.append(try Cell(from: &input, shape))
    }
    guard input.isAtEnd else { throw input.damaged }
  }
}
