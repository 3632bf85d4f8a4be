internal import Primitives

/// Writes an `Encodable` event's properties straight as MessagePack, without building values between.
///
/// Containers must be used one after another, as synthesised code does: writing to an outer container
/// ends the inner one. Coding paths are not kept (they cost more than the encoding), so an error names
/// its reason only. A `Date` of Foundation becomes text, as every time on the bus.
struct PropertyEncoder: Encoder {
  let state: EncodingState
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  static func encode(
    _ event: some Encodable, into writer: inout PropertyWriter
  ) throws(EventEncodingError) {
    let state = EncodingState(writer)
    // The state holds the only copy while the event writes, so nothing is copied.
    writer.output = MessagePackWriter()
    defer { writer = state.finish() }
    do {
      try event.encode(to: PropertyEncoder(state: state))
    } catch let error as EventEncodingError {
      throw error
    } catch {
      throw EventEncodingError("\(error)")
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(KeyedWriter<Key>(state: state, level: state.open(isMap: true)))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    ListWriter(state: state, level: state.open(isMap: false))
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { ValueWriter(state: state) }
}

/// The bytes and the containers that are open, outermost first.
final class EncodingState {
  private struct Level {
    var container: MessagePackWriter.OpenContainer?
    var count = 0
    var serial: Int
  }

  struct Reference {
    var depth: Int
    var serial: Int
  }

  var writer: PropertyWriter
  /// The type whose `encode(to:)` runs, for the one type that is written otherwise than it says.
  var current: Any.Type = Never.self
  private var levels: [Level] = []
  private var serial = 0
  private var isRootList = false

  init(_ writer: PropertyWriter) {
    self.writer = writer
    levels.reserveCapacity(8)
  }

  /// Opens a container. The outermost map is the event's own, which the envelope has begun.
  func open(isMap: Bool) -> Reference {
    serial += 1
    if levels.isEmpty {
      writer.isPresent = true
      isRootList = !isMap
      levels.append(Level(container: nil, serial: serial))
    } else {
      writer.hasContainers = true
      let container = isMap ? writer.output.beginMap() : writer.output.beginArray()
      levels.append(Level(container: container, serial: serial))
    }
    return Reference(depth: levels.count - 1, serial: serial)
  }

  /// Makes ready for one more member of `level`, ending what is open inside it.
  func enter(_ level: Reference) throws(EventEncodingError) {
    while levels.count > level.depth + 1 { close() }
    guard levels.count == level.depth + 1, levels[level.depth].serial == level.serial else {
      throw EventEncodingError("a container was used after an outer one went on")
    }
    guard !isRootList else { throw EventEncodingError("properties must be keyed") }
    guard levels.count <= EventLimits.maximumContainers else {
      throw EventEncodingError("nested over \(EventLimits.maximumDepth) levels")
    }
    levels[level.depth].count += 1
  }

  func count(_ level: Reference) -> Int {
    level.depth < levels.count ? levels[level.depth].count : 0
  }

  func requireContainer() throws(EventEncodingError) {
    if levels.isEmpty { throw EventEncodingError("properties must be keyed") }
  }

  func finish() -> PropertyWriter {
    while levels.count > 1 { close() }
    if let root = levels.popLast() { writer.count += root.count }
    return writer
  }

  private func close() {
    guard let level = levels.popLast(), let container = level.container else { return }
    writer.output.end(container, count: level.count)
  }

  @inline(__always)
  func write<T: Encodable>(_ value: T) throws {
    if let text = value as? String {
      writer.output.write(text)
      return
    }
    let outer = current
    current = T.self
    defer { current = outer }
    let before = writer.output.bytes.count
    try value.encode(to: PropertyEncoder(state: self))
    // A type that wrote nothing at all still needs a value behind its key.
    if writer.output.bytes.count == before { writer.output.writeMapHeader(0) }
  }

  /// A double on its own; for Foundation's `Date` that is the seconds since 2001.
  func writeSingle(_ value: Double) {
    if let time = FoundationDate.time(of: value, in: current) {
      writer.write(time)
    } else {
      writer.write(value)
    }
  }
}

/// Foundation's `Date`, known by its name, since this module does without Foundation.
enum FoundationDate {
  static func isDate(_ type: Any.Type) -> Bool {
    let name = _typeName(type, qualified: true)
    return name == "Foundation.Date" || name == "FoundationEssentials.Date"
  }

  static func time(of seconds: Double, in type: Any.Type) -> Timestamp? {
    guard isDate(type), let nanoseconds = Int64(exactly: (seconds * 1e6).rounded()) else {
      return nil
    }
    let (scaled, overflow) = nanoseconds.multipliedReportingOverflow(by: 1000)
    let (sum, overflow2) = scaled.addingReportingOverflow(secondsTo2001 * 1_000_000_000)
    return overflow || overflow2 ? nil : Timestamp(nanoseconds: sum)
  }

  static func seconds(of time: Timestamp) -> Double {
    Double(time.nanoseconds - secondsTo2001 * 1_000_000_000) / 1e9
  }

  private static let secondsTo2001: Int64 = 978_307_200
}
