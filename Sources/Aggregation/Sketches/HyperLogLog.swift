/// Estimates how many distinct hashes it was given, in 16 KiB at most.
///
/// HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007) with 2^14 registers and Ertl's estimator ("New
/// cardinality estimation algorithms for HyperLogLog sketches", 2017), which needs no tables of bias and
/// only rises. The order in which hashes come, and how sketches were merged, changes nothing.
///
/// Sparse while few registers are set: a sorted list of them; dense from 2,048 on.
struct HyperLogLog: Sendable, Equatable {
  static let precision = 14
  static let registerCount = 1 << precision
  /// One standard deviation, relative: 1.04 / sqrt(2^14). Three of them are 2.5 %.
  static let error = 0.008125
  /// A list of more entries would be longer than half of the dense form.
  private static let sparseLimit = 2048

  /// `index << 8 | rank`, sorted; empty when dense.
  private(set) var sparse: [UInt32] = []
  /// One rank a register; empty when sparse.
  private(set) var dense: [UInt8] = []

  var isDense: Bool { !dense.isEmpty }
  var byteCount: Int { isDense ? dense.count : sparse.count * 4 }

  @inline(__always)
  mutating func insert(_ hash: UInt64) {
    let index = Int(truncatingIfNeeded: hash >> UInt64(64 - Self.precision))
    // The guard bit ends the run of zeros where the hash does.
    let rest = hash << UInt64(Self.precision) | 1 << UInt64(Self.precision - 1)
    set(index, UInt8(truncatingIfNeeded: rest.leadingZeroBitCount + 1))
  }

  @inline(__always)
  mutating func set(_ index: Int, _ rank: UInt8) {
    if isDense {
      if dense[index] < rank { dense[index] = rank }
    } else {
      setSparse(index, rank)
    }
  }

  private mutating func setSparse(_ index: Int, _ rank: UInt8) {
    var low = 0
    var high = sparse.count
    while low < high {
      let middle = (low + high) / 2
      if Int(sparse[middle] >> 8) < index { low = middle + 1 } else { high = middle }
    }
    let entry = UInt32(index) << 8 | UInt32(rank)
    if low < sparse.count, Int(sparse[low] >> 8) == index {
      sparse[low] = max(sparse[low], entry)
    } else {
      sparse.insert(entry, at: low)
      if sparse.count > Self.sparseLimit { densify() }
    }
  }

  private mutating func densify() {
    var registers = [UInt8](repeating: 0, count: Self.registerCount)
    for entry in sparse { registers[Int(entry >> 8)] = UInt8(truncatingIfNeeded: entry) }
    dense = registers
    sparse = []
  }

  mutating func merge(_ other: HyperLogLog) {
    if other.isDense {
      if !isDense { densify() }
      for index in 0..<Self.registerCount where dense[index] < other.dense[index] {
        dense[index] = other.dense[index]
      }
    } else {
      for entry in other.sparse { set(Int(entry >> 8), UInt8(truncatingIfNeeded: entry)) }
    }
  }

  /// About 20 µs when dense.
  var estimate: Double {
    // How many registers have each rank: 0 to 51 in 64 bits of hash.
    let highest = 64 - Self.precision
    var ranks = [Int](repeating: 0, count: highest + 2)
    if isDense {
      for rank in dense { ranks[min(Int(rank), highest + 1)] += 1 }
    } else {
      for entry in sparse { ranks[min(Int(entry & 0xFF), highest + 1)] += 1 }
      ranks[0] = Self.registerCount - sparse.count
    }
    let m = Double(Self.registerCount)
    var z = m * Self.tau(1 - Double(ranks[highest + 1]) / m)
    for rank in stride(from: highest, through: 1, by: -1) { z = (z + Double(ranks[rank])) / 2 }
    z += m * Self.sigma(Double(ranks[0]) / m)
    // 1 / (2 ln 2)
    return 0.721_347_520_444_481_7 * m * m / z
  }

  private static func sigma(_ x: Double) -> Double {
    guard x < 1 else { return .infinity }
    var (x, y, z) = (x, 1.0, x)
    while true {
      x *= x
      let before = z
      z += x * y
      y += y
      if z == before { return z }
    }
  }

  private static func tau(_ x: Double) -> Double {
    guard x > 0, x < 1 else { return 0 }
    var (x, y, z) = (x, 1.0, 1 - x)
    while true {
      x = x.squareRoot()
      let before = z
      y *= 0.5
      z -= (1 - x) * (1 - x) * y
      if z == before { return z / 3 }
    }
  }
}
