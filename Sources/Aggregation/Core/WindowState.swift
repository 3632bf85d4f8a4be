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
/// in `TopValues`. A class, so that a report keeps the one it works on at hand.
final class WindowState {
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
  /// The cell of each event name, for reports that break down by nothing else; -1 for none.
  var cellOfName: [Int32] = []
  var isChanged = false

  init(_ range: Range<Int64>, _ shape: CellShape) {
    self.range = range
    self.shape = shape
  }

  /// The cell of a group, made now if it is new.
  @inline(__always)
  func cell(_ key: RawSpan, limit: Int) -> Int {
    if let found = keys.find(key) { return found }
    if keys.count >= 2 * limit { fold(to: limit) }
    var cell = Cell(shape)
    cell.mayMiss = missing
    cells.append(cell)
    return keys.intern(key)
  }

  @inline(__always)
  func cell(_ key: [UInt8], limit: Int) -> Int { unsafe cell(key.span.bytes, limit: limit) }

  /// The cell that takes what has no group of its own, made when it is first changed.
  var otherCell: Cell {
    get { other ?? Cell(shape) }
    _modify {
      if other == nil { other = Cell(shape) }
      yield &other!
    }
  }

  /// The cell of an event name, by the core's number for it: an array's lookup.
  @inline(__always)
  func cell(ofName name: Int, _ key: [UInt8], limit: Int) -> Int {
    if name < cellOfName.count, cellOfName[name] >= 0 { return Int(cellOfName[name]) }
    return newCell(ofName: name, key, limit: limit)
  }

  private func newCell(ofName name: Int, _ key: [UInt8], limit: Int) -> Int {
    let cell = cell(key, limit: limit)
    while cellOfName.count <= name { cellOfName.append(-1) }
    cellOfName[name] = Int32(cell)
    return cell
  }

  /// Counts an event. The window is weighed at every 65,536th, however often it was stored and read back
  /// in between, so what is folded depends on the journal's order alone.
  @inline(__always)
  func takeEvent(limit: Int) {
    isChanged = true
    events += 1
    if events & 0xFFFF == 0 { weigh(limit: limit) }
  }

  private func weigh(limit: Int) {
    guard stateBytes > Self.maximumBytes, cells.count > 1 else { return }
    fold(to: min(limit, cells.count / 2))
  }

  private func fold(to limit: Int) {
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
    cellOfName = []
  }

  /// What it holds in memory, about.
  var byteCount: Int { 256 + cellOfName.count * 4 + stateBytes }

  /// The part of it that is a function of what was counted.
  private var stateBytes: Int {
    var bytes = keys.memoryBytes + (other?.byteCount ?? 0)
    for cell in cells { bytes += cell.byteCount }
    return bytes
  }

  /// Takes persons out of the sets that still know whom they hold.
  func erase(_ persons: HashTable64, _ sets: [Int]) {
    for cell in cells.indices {
      for set in sets where cells[cell].sets[set].erase(persons) { isChanged = true }
    }
    guard other != nil else { return }
    for set in sets where otherCell.sets[set].erase(persons) { isChanged = true }
  }

  /// All groups together.
  var total: Cell {
    var total = Cell(shape)
    for cell in cells { total.merge(cell, shape) }
    if let other { total.merge(other, shape) }
    total.mayMiss = 0
    return total
  }
}

extension WindowState {
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

  convenience init(
    _ range: Range<Int64>, _ shape: CellShape, from bytes: [UInt8]
  ) throws(StateError) {
    self.init(range, shape)
    var input = StateReader(bytes)
    guard try input.byte() == Self.version else { throw input.damaged }
    events = try input.number()
    folded = try input.number()
    missing = try input.number()
    if try input.byte() == 1 { other = try Cell(from: &input, shape) }
    for index in 0..<(try input.count(of: 3)) {
      let key = try input.text()
      guard keys.intern(key) == index else { throw input.damaged }
      cells.append(try Cell(from: &input, shape))
    }
    guard input.isAtEnd else { throw input.damaged }
  }
}
