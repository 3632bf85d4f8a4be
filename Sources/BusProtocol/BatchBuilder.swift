internal import Primitives

/// Collects events into a batch (layout: Batch.swift) and reuses its buffers for the next one.
///
/// A payload is written straight into `payloads` between `payloads.count` before and `append(name:)`
/// after, so a typed event is encoded once and copied once. Not thread-safe: its owner locks.
public struct BatchBuilder: Sendable {
  /// Bytes of all payloads so far. Append one event's payload, then call `append(name:)`.
  public var payloads: [UInt8] = []
  private var names = ByteInterner()
  private var nameTable: [UInt8] = []
  private var entries: [UInt8] = []
  private var finished = 0
  private var lastName: (bytes: [UInt8], index: UInt16) = ([], 0)
  public private(set) var eventCount = 0

  public init() {}

  public var isEmpty: Bool { eventCount == 0 }

  /// Bytes of the batch if it were built now.
  public var byteCount: Int {
    Batch.headerBytes + nameTable.count + entries.count + finished
  }

  /// Bytes that one more event of this name and payload would add, at most.
  public static func cost(nameBytes: Int, payloadBytes: Int) -> Int {
    1 + nameBytes + 6 + payloadBytes
  }

  /// Closes the event whose payload was appended to `payloads` since the last call.
  public mutating func append(name: [UInt8], distance: Int? = nil) {
    if lastName.bytes != name {
      lastName = (name, index(of: unsafe name.span.bytes))
    }
    close(nameIndex: lastName.index, distance: distance)
  }

  /// The same with the name as raw bytes.
  public mutating func append(name: RawSpan, distance: Int? = nil) {
    close(nameIndex: index(of: name), distance: distance)
  }

  /// Forgets what was appended to `payloads` since the last complete event.
  public mutating func abandon() {
    payloads.removeSubrange(finished...)
  }

  private mutating func index(of name: RawSpan) -> UInt16 {
    precondition(name.byteCount > 0 && name.byteCount <= 255, "a name has 1 to 255 bytes here")
    let known = names.count
    let index = names.intern(name)
    if index == known {
      nameTable.append(UInt8(name.byteCount))
      nameTable.append(name)
    }
    return UInt16(index)
  }

  private mutating func close(nameIndex: UInt16, distance: Int?) {
    entries.appendBigEndian(nameIndex)
    entries.appendBigEndian(UInt32(payloads.count - finished))
    if let distance { entries.appendBigEndian(UInt16(distance)) }
    finished = payloads.count
    eventCount += 1
  }

  /// Appends the batch to `bytes` and begins the next one. Events were all given a distance, or none.
  public mutating func build(into bytes: inout [UInt8], addressees: [[UInt8]] = []) {
    precondition(eventCount > 0, "a batch has events")
    let hasDistances = entries.count == eventCount * 8
    bytes.reserveCapacity(bytes.count + byteCount + addressees.reduce(1) { $0 + $1.count + 1 })
    bytes.append(Batch.version)
    bytes.append(
      (hasDistances ? Batch.distancesFlag : 0) | (addressees.isEmpty ? 0 : Batch.addressedFlag))
    bytes.appendBigEndian(UInt16(names.count))
    bytes.appendBigEndian(UInt32(eventCount))
    bytes.appendBigEndian(UInt32(finished))
    bytes.append(contentsOf: nameTable)
    if !addressees.isEmpty {
      bytes.append(UInt8(addressees.count))
      for addressee in addressees {
        bytes.append(UInt8(addressee.count))
        bytes.append(contentsOf: addressee)
      }
    }
    bytes.append(contentsOf: entries)
    bytes.append(contentsOf: payloads[..<finished])
    reset()
  }

  public mutating func reset() {
    payloads.removeAll(keepingCapacity: true)
    nameTable.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    names.removeAll()
    // Its index was one of this batch.
    lastName = ([], 0)
    finished = 0
    eventCount = 0
  }
}
